/// What tells a server that a request is one it has seen before (the field `Idempotency-Key`).
///
/// It is made once, and stays the same over all attempts.
public enum IdempotencyKey: Sendable, Hashable {
    /// A random one, of 128 bits.
    case random
    /// One of the user's own: what a field can carry, or the request fails with
    /// ``HTTPError/Code/invalidConfiguration``.
    case custom(String)

    /// What is sent.
    ///
    /// - Throws: `invalidConfiguration` for what no field can carry: a line end in it would begin another field.
    func checkedText() throws(HTTPError) -> String {
        let text = text
        guard !text.isEmpty, HTTPField.isValidValue(text) else {
            let reason =
                """
                \(text.debugDescription) is no idempotency key: it has to have a character at least, no control \
                characters, and no space at either end
                """
            throw .init(.invalidConfiguration, .neverSent, reason)
        }
        return text
    }

    /// What is sent, unchecked.
    var text: String {
        switch self {
        case .custom(let text): text
        case .random:
            [UInt64.random(in: 0 ... .max), .random(in: 0 ... .max)]
                .map {
                    String(repeating: "0", count: $0.leadingZeroBitCount / 4) + ($0 == 0 ? "" : String($0, radix: 16))
                }
                .joined()
        }
    }
}
