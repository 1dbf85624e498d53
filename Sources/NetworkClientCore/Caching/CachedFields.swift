/// A header field of a stored message.
package struct CachedField: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The header fields of a message, in order, as a cache reads and changes them.
package struct CachedFields: Sendable, Hashable {
    package var all: [CachedField]

    package init(_ all: [CachedField] = []) { self.all = all }

    /// Returns the values of the field lines with a name, in any case.
    package func values(of name: String) -> [String] {
        all.compactMap { $0.name.utf8.isEqualIgnoringCase(name.utf8) ? $0.value : nil }
    }

    /// Returns the value of the only field line with a name; nil if there is none, or several with different values.
    package func single(_ name: String) -> String? {
        let values = values(of: name)
        return values.dropFirst().allSatisfy { $0 == values[0] } ? values.first : nil
    }

    package func contains(_ name: String) -> Bool {
        all.contains { $0.name.utf8.isEqualIgnoringCase(name.utf8) }
    }

    package mutating func remove(_ name: String) {
        all.removeAll { $0.name.utf8.isEqualIgnoringCase(name.utf8) }
    }

    package mutating func replace(_ name: String, with value: String) {
        remove(name)
        all.append(.init(name, value))
    }

    /// Returns the elements of the lists in all lines with a name, in lower case (RFC 9110, 5.6.1).
    package func list(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.compactMap {
            let element = $0.trimmingBlanks.lowercased()
            return element.isEmpty ? nil : element
        }
    }

    /// The fields without those of the connection, which a cache must not store (RFC 9111, 3.1).
    package var storable: CachedFields {
        let unstored = Set(Self.connectionFields + list(of: "Connection"))
        return .init(all.filter { !unstored.contains($0.name.lowercased()) })
    }

    private static let connectionFields = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    var trimmingBlanks: String {
        let start = utf8.drop { $0.isBlank }
        let count = start.reversed().drop { $0.isBlank }.count
        return String(decoding: start.prefix(count), as: UTF8.self)
    }
}
