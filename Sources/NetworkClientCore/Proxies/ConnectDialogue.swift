/// The client's side of a CONNECT request to an HTTP proxy (RFC 9110, 9.3.6).
package struct ConnectDialogue: Sendable {
    private let authority: String
    private let fields: [ProxyResponse.Field]
    private var parser: ResponseParser
    /// The response once its head has arrived and it is a refusal.
    private var refusal: ProxyResponse?

    /// The maximum size of a refusal's body that is kept, and waited for, in bytes.
    package static let keptBody = 4_096

    /// Creates a request for a connection.
    ///
    /// - Parameters:
    ///   - authority: The host and port; an IPv6 address is in brackets.
    ///   - fields: The fields of the request in addition to `Host`.
    ///   - maximumHead: The maximum size of the response's head in bytes, including interim responses.
    package init(to authority: String, fields: [ProxyResponse.Field], maximumHead: Int) {
        self.authority = authority
        self.fields = fields
        parser = ResponseParser(maximumHeadSize: maximumHead)
        parser.expectResponse(to: "CONNECT")
    }

    /// The bytes of the request.
    package var request: [UInt8] {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(lines)\r\n".utf8)
    }

    /// Processes received bytes, however they are split.
    ///
    /// - Returns: The next step. After the connection is open or refused, it must not be called again.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> ProxyStep {
        Array(bytes).withUnsafeBytes { bytes in
            do throws(ResponseFault) {
                return try read(bytes)
            } catch {
                return .refused(refusal.map { .response($0) } ?? .init(error))
            }
        }
    }

    /// Returns the refusal received so far when the connection was closed or timed out; nil if there is none.
    package func end() -> ProxyRefusal? { refusal.map { .response($0) } }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(ResponseFault) -> ProxyStep {
        var position = 0
        while true {
            let (consumed, event) = try parser.next(UnsafeRawBufferPointer(rebasing: bytes[position...]))
            position += consumed
            switch event {
            case nil: return .wait
            case .head(let head):
                if 200..<300 ~= head.status { return .open(rest: Array(bytes[position...])) }
                if !head.isInterim { refusal = ProxyResponse(head) }
                // A 101 is followed by another protocol, which was not requested.
                if head.status == 101 { return end().map { .refused($0) } ?? .wait }
            case .body(let count): refusal?.keep(bytes[(position - count)..<position])
            case .end: return end().map { .refused($0) } ?? .wait
            }
            if let refusal, refusal.body.count == Self.keptBody { return .refused(.response(refusal)) }
        }
    }
}

extension ProxyResponse {
    fileprivate init(_ head: ResponseHead) {
        self.init(status: head.status, reason: head.reason, fields: head.fields.map { .init($0.0, $0.1) })
    }

    /// Keeps the beginning of the body.
    fileprivate mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        body += bytes.prefix(ConnectDialogue.keptBody - body.count)
    }
}

extension ProxyRefusal {
    fileprivate init(_ fault: ResponseFault) {
        switch fault {
        case .malformed(let why): self = .protocolViolation("its response is not valid HTTP: \(why)")
        case .headTooLarge(let limit): self = .headTooLarge(limit)
        case .unsolicited, .truncated: self = .closed
        }
    }
}

extension ResponseHead {
    /// Whether another response follows.
    ///
    /// 101 is final, since it is followed by another protocol.
    fileprivate var isInterim: Bool { 100..<200 ~= status && status != 101 }
}
