/// The rules for topic names and topic filters (MQTT 5, 4.7).
package enum MQTTTopic {
    /// Returns whether a text can be the topic of a message: at least one character, and no wildcard.
    package static func isName(_ text: String) -> Bool {
        isTopic(text) && !text.utf8.contains(where: isWildcard)
    }

    /// Returns whether a text can be a filter: a wildcard fills a level, and `#` is the last one.
    package static func isFilter(_ text: String) -> Bool {
        guard isTopic(text) else { return false }
        // By bytes: a combining character after a wildcard or slash does not change what the broker reads.
        let levels = Array(text.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isValid = { (level: ArraySlice<UInt8>) in level.count == 1 || !level.contains(where: isWildcard) }
        return levels.allSatisfy(isValid) && !levels.dropLast().contains { $0.elementsEqual("#".utf8) }
    }

    /// Returns whether a text can be one level of a topic.
    package static func isLevel(_ text: String) -> Bool { isName(text) && !text.utf8.contains(UInt8(ascii: "/")) }

    private static func isWildcard(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "+") || byte == UInt8(ascii: "#") }

    private static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 0xFFFF && !text.utf8.contains(0)
    }
}
