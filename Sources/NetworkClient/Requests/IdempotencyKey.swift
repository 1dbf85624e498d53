/// What tells a server that a request is one it has seen before (the field `Idempotency-Key`).
///
/// It is made once, and stays the same over all attempts.
public enum IdempotencyKey: Sendable, Hashable {
    /// A random one, of 128 bits.
    case random
    /// One of the user's own.
    case custom(String)

    /// What is sent.
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
