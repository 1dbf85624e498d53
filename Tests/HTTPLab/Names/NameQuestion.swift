/// A query to a name server, with one question (RFC 1035, 4).
struct NameQuestion {
    /// The name, without the trailing dot.
    let name: String
    private let isForIPv4: Bool
    private let identifier: ArraySlice<UInt8>
    /// The bytes of the question in the message.
    private let question: ArraySlice<UInt8>

    /// Parses a message with one question; nil for any other.
    init?(_ message: ArraySlice<UInt8>) {
        let bytes = Array(message)
        guard bytes.count > 12, bytes[4] == 0, bytes[5] == 1 else { return nil }
        var position = 12
        var labels: [String] = []
        while position < bytes.count, bytes[position] > 0 {
            let end = position + 1 + Int(bytes[position])
            guard end < bytes.count else { return nil }
            labels.append(String(decoding: bytes[position + 1..<end], as: UTF8.self))
            position = end
        }
        guard position + 5 <= bytes.count else { return nil }
        name = labels.joined(separator: ".")
        isForIPv4 = bytes[position + 2] == 1
        identifier = bytes[0..<2]
        question = bytes[12..<position + 5]
    }

    /// Returns the response message; nil for none.
    func message(for reply: NameServer.Reply) -> [UInt8]? {
        switch reply {
        case .silence: nil
        case .code(let code): message(code, [])
        case .address(let first, let second, let third, let fourth):
            message(0, isForIPv4 ? [first, second, third, fourth] : [])
        }
    }

    private func message(_ code: UInt8, _ address: [UInt8]) -> [UInt8] {
        let count: UInt8 = address.isEmpty ? 0 : 1
        // A response, recursion desired and available; one question, and at most one record.
        let head = identifier + [0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]
        // A pointer to the name in the question; A, IN, 60 seconds.
        let record = address.isEmpty ? [] : [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
        return head + question + record
    }
}
