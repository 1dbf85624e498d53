/// How a client asks an HTTP proxy for a connection: CONNECT (RFC 9110, 9.3.6).
public struct ConnectDialogue: Sendable, Hashable {
    private enum Phase: Hashable {
        case head
        /// The answer is a refusal, whose body is still to come; with its length, if it says so.
        case body(ProxyAnswer, length: Int?)
        case over
    }

    private let authority: String
    private let fields: [ProxyAnswer.Field]
    private let maximumHead: Int
    private var phase = Phase.head
    private var pending: [UInt8] = []
    /// How far the end of the head has been looked for.
    private var searched = 0
    /// How much has come of heads before the last one.
    private var headBytes = 0

    /// So much of a refusal's body is kept, and waited for.
    public static let keptBody = 4_096

    /// Asks for a connection.
    ///
    /// - Parameters:
    ///   - authority: Host and port; IPv6 in brackets.
    ///   - fields: What the request has beside `Host`.
    ///   - maximumHead: How large the answer's head may be, interim answers included.
    public init(to authority: String, fields: [ProxyAnswer.Field], maximumHead: Int) {
        self.authority = authority
        self.fields = fields
        self.maximumHead = maximumHead
    }

    /// What is sent.
    public var request: [UInt8] {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(lines)\r\n".utf8)
    }

    /// Takes in what came, however it was split.
    public mutating func receive(_ bytes: some Sequence<UInt8>) -> ProxyStep {
        pending += bytes
        while true {
            switch phase {
            case .over: return .wait
            case .body(let answer, let length): return body(of: answer, length)
            case .head:
                if let step = head() { return step }
            }
        }
    }

    /// The connection was closed, or its time is up: what is known of the answer by then.
    public mutating func end() -> ProxyRefusal? {
        guard case .body(var answer, _) = phase else { return nil }
        phase = .over
        answer.body = Array(pending.prefix(Self.keptBody))
        return .answer(answer)
    }

    // MARK: The head

    /// Takes a head, if it is whole; nil if there is more to do with what came.
    private mutating func head() -> ProxyStep? {
        if !isHTTP { return over(.nonsense("what came is no HTTP")) }
        guard let end = headEnd() else {
            return headBytes + pending.count > maximumHead ? over(.headTooLarge(maximumHead)) : .wait
        }
        headBytes += end
        guard headBytes <= maximumHead else { return over(.headTooLarge(maximumHead)) }
        let answer = ProxyAnswer(head: pending[..<end])
        pending.removeFirst(end)
        searched = 0
        guard let answer else { return over(.nonsense("what came is no HTTP")) }
        switch answer.status {
        case 100..<200 where answer.status != 101: return nil
        case 200..<300:
            phase = .over
            defer { pending = [] }
            return .open(rest: pending)
        default:
            phase = .body(answer, length: answer.bodyLength)
            return nil
        }
    }

    private mutating func over(_ refusal: ProxyRefusal) -> ProxyStep {
        phase = .over
        return .refused(refusal)
    }

    /// Whether what came may be the beginning of an answer.
    private var isHTTP: Bool { zip(pending, "HTTP/1.".utf8).allSatisfy { $0 == $1 } }

    /// Where the head ends: behind an empty line, whose end may be a bare line feed (RFC 9112, 2.2).
    private mutating func headEnd() -> Int? {
        let lineFeed = UInt8(ascii: "\n")
        for index in searched..<pending.count where pending[index] == lineFeed {
            let before = pending[..<index].last == UInt8(ascii: "\r") ? index - 2 : index - 1
            if before >= 0, pending[before] == lineFeed { return index + 1 }
        }
        searched = pending.count
        return nil
    }

    // MARK: The body of a refusal

    private mutating func body(of answer: ProxyAnswer, _ length: Int?) -> ProxyStep {
        guard pending.count >= min(length ?? .max, Self.keptBody) else { return .wait }
        var answer = answer
        answer.body = Array(pending.prefix(min(length ?? .max, Self.keptBody)))
        return over(.answer(answer))
    }
}

extension ProxyAnswer {
    /// Reads a head; nil if it is none.
    fileprivate init?(head: ArraySlice<UInt8>) {
        let lines = head.split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count > 1, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
            100...999 ~= status
        else { return nil }
        self.init(status: status, reason: words.count > 2 ? String(decoding: words[2], as: UTF8.self) : "")
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            fields.append(.init(name, String(decoding: Self.trimmed(line[(colon + 1)...]), as: UTF8.self)))
        }
    }

    /// Without the white space at its ends.
    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let start = value.drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? []
    }

    /// How long the body is; nil if only its end will tell.
    ///
    /// In chunks, nothing of it is waited for: the head says why. With 304 none comes (RFC 9112, 6.3).
    fileprivate var bodyLength: Int? {
        if status == 304 || !values(of: "Transfer-Encoding").isEmpty { return 0 }
        return values(of: "Content-Length").first.flatMap(Int.init).flatMap { $0 < 0 ? nil : $0 }
    }
}
