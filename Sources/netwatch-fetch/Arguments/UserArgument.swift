import CommandLineSupport

/// `--user`: who asks, and perhaps by which password.
struct UserArgument: Hashable {
    /// The name.
    var name: String
    /// The password; nil if it is to come from elsewhere.
    var password: String?

    /// Reads `USER[:PASSWORD]`.
    ///
    /// No error shows what was written, which may be a password.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        // By bytes, as the server reads it: of characters, a colon with an accent is none.
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let name = parts.first, !name.isEmpty else { throw .init("the name is missing; \(howTo)") }
        guard isWritable(text) else { throw .init("it has a control character; leave that out") }
        return .init(name: name, password: parts.count > 1 ? parts[1] : nil)
    }

    /// Whether a text may be sent as name or password (RFC 7617, 2).
    static func isWritable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    }

    private static let howTo = "write USER, and type the password when asked, or USER:PASSWORD"
}
