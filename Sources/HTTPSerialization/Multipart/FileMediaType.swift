/// What files are, by the endings of their names.
///
/// A table of its own: which types a machine's `mime.types` knows should not decide what a server is told.
public enum FileMediaType {
    /// What is said of a file of which nothing is known (RFC 2046, 4.5.1).
    public static let unknown = "application/octet-stream"

    /// The media type that goes with the ending of a file's name, such as `image/jpeg` for `photo.JPG`.
    ///
    /// - Parameter name: A name or a path.
    /// - Returns: The type; ``unknown`` if there is no ending, or none that the table has.
    public static func type(ofFileNamed name: String) -> String {
        let last = name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return unknown }
        return byEnding[last[last.index(after: dot)...].lowercased()] ?? unknown
    }

    /// The types by the endings in lower case.
    static let byEnding: [String: String] = {
        var types: [String: String] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            for ending in words.dropFirst() { types[String(ending)] = words.first.map { String($0) } }
        }
        return types
    }()
}
