/// The server's side of an HTTP/2 connection whose streams may be WebSockets (RFC 8441).
///
/// ```swift
/// let server = try ScriptedServer(always: [.custom { try HTTP2WebSocketPeer($0).serve() }])
/// ```
/// It takes a request that does not end with its head for an extended CONNECT. Confined to its connection's thread.
package final class HTTP2WebSocketPeer {
    /// What the client has sent.
    package enum Event: Sendable, Hashable {
        /// A request that has ended.
        case request(UInt32)
        /// A request for a WebSocket.
        case open(UInt32)
        /// A frame of a WebSocket, unmasked.
        case frame(LabFrame, on: UInt32)
        /// The end of the client's direction.
        case end(UInt32)
        /// RST_STREAM with its code.
        case reset(UInt32, code: UInt32)
    }

    /// The connection.
    package let peer: HTTP2Peer
    private let returnsWindows: Bool
    private var inputs: [UInt32: [UInt8]] = [:]
    private var pending: [Event] = []

    /// The settings of a server that allows an extended CONNECT.
    package static let settings: [(UInt16, UInt32)] = [(8, 1)]

    /// Reads the client's preface, and sends the settings by their numbers.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - settings: The settings.
    ///   - returnsWindows: Whether the client may send as many bytes again as were received, beyond the first 65,535.
    /// - Throws: The end of the connection.
    package init(
        _ connection: ServerConnection,
        settings: [(UInt16, UInt32)] = settings,
        returnsWindows: Bool = true
    ) throws {
        self.returnsWindows = returnsWindows
        peer = try HTTP2Peer(connection, settings: settings)
    }

    // MARK: Receiving

    /// Reads frames up to the next event.
    package func next() throws -> Event {
        while pending.isEmpty { try receive(peer.readFrame()) }
        return pending.removeFirst()
    }

    private func receive(_ frame: LabHTTP2Frame) throws {
        let hasEnd = frame.flags & 1 != 0
        switch frame.kind {
        case LabHTTP2Frame.Kind.headers where hasEnd: pending.append(.request(frame.stream))
        case LabHTTP2Frame.Kind.headers:
            inputs[frame.stream] = []
            pending.append(.open(frame.stream))
        case LabHTTP2Frame.Kind.data:
            inputs[frame.stream, default: []] += frame.payload
            parse(frame.stream)
            if hasEnd { pending.append(.end(frame.stream)) } else { try returnWindows(of: frame) }
        case LabHTTP2Frame.Kind.reset: pending.append(.reset(frame.stream, code: frame.number(at: 0)))
        default: break
        }
    }

    private func returnWindows(of frame: LabHTTP2Frame) throws {
        let count = UInt32(frame.payload.count)
        guard returnsWindows, count > 0 else { return }
        try peer.send(.windowUpdate(count, on: frame.stream), .windowUpdate(count))
    }

    private func parse(_ stream: UInt32) {
        while let (frame, length) = LabFrame.parse(inputs[stream, default: []]) {
            inputs[stream]?.removeFirst(length)
            pending.append(.frame(frame, on: stream))
        }
    }

    // MARK: Sending

    /// Opens the WebSocket of a stream, with further fields of the response.
    package func accept(_ stream: UInt32, _ fields: [(String, String)] = []) throws {
        try peer.send(.headers([(":status", "200")] + fields, on: stream))
    }

    /// Sends a frame of a WebSocket.
    package func send(_ frame: LabFrame, on stream: UInt32, ends: Bool = false) throws {
        let bytes = frame.bytes
        let starts = Array(stride(from: 0, to: bytes.count, by: 16_384))
        try peer.send(
            starts.map { start in
                let end = min(start + 16_384, bytes.count)
                return .data(Array(bytes[start..<end]), on: stream, ends: ends && end == bytes.count)
            }
        )
    }

    /// Responds as a server does that returns each message, and ends a stream with its Close frame.
    package func respond(to event: Event) throws {
        switch event {
        case .request(let stream): try peer.respond(on: stream)
        case .open(let stream): try accept(stream)
        case .frame(var frame, let stream):
            frame.key = nil
            if frame.opcode == 9 { frame.opcode = 10 }
            try send(frame, on: stream, ends: frame.opcode == 8)
        case .end, .reset: break
        }
    }

    /// Responds to everything until the client closes the connection.
    package func serve() throws { while true { try respond(to: next()) } }
}

extension LabFrame {
    /// Parses the first frame, and returns it with its length; nil if it is not complete.
    fileprivate static func parse(_ bytes: [UInt8]) -> (frame: Self, length: Int)? {
        guard bytes.count >= 2 else { return nil }
        var (position, length) = (2, Int(bytes[1] & 0x7F))
        if length > 125 {
            let size = length == 126 ? 2 : 8
            guard bytes.count >= position + size else { return nil }
            length = bytes[position..<(position + size)].reduce(0) { $0 << 8 | Int($1) }
            position += size
        }
        let keyLength = bytes[1] & 0x80 != 0 ? 4 : 0
        guard bytes.count >= position + keyLength + length else { return nil }
        let key = keyLength > 0 ? Array(bytes[position..<(position + keyLength)]) : nil
        position += keyLength
        var payload = Array(bytes[position..<(position + length)])
        if let key { for index in payload.indices { payload[index] ^= key[index % 4] } }
        let frame = Self(
            bytes[0] & 0x0F,
            payload,
            isFinal: bytes[0] & 0x80 != 0,
            reserved: bytes[0] >> 4 & 7,
            key: key
        )
        return (frame, position + length)
    }
}
