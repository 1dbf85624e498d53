/// The server's side of an HTTP/2 connection, which a test moves frame by frame.
///
/// ```swift
/// let server = try ScriptedServer(always: [.custom { connection in
///     let peer = try HTTP2Peer(connection)
///     let stream = try peer.readRequest()
///     try peer.respond(on: stream)
/// }])
/// ```
/// Confined to its connection's thread.
package final class HTTP2Peer {
    private let connection: ServerConnection
    private var input: [UInt8] = []
    private var start = 0
    /// The frames of the client, in order.
    package private(set) var frames: [LabHTTP2Frame] = []

    /// Reads the client's preface, and sends the settings by their numbers; nil sends none.
    package init(_ connection: ServerConnection, settings: [(UInt16, UInt32)]? = []) throws {
        self.connection = connection
        _ = try take(24)
        guard let settings else { return }
        try send(.settings(settings))
    }

    /// Sends frames in one piece.
    package func send(_ frames: LabHTTP2Frame...) throws { try connection.send(frames.flatMap { $0.bytes() }) }

    /// Sends frames in one piece.
    package func send(_ frames: [LabHTTP2Frame]) throws { try connection.send(frames.flatMap { $0.bytes() }) }

    /// Sends bytes.
    package func send(bytes: [UInt8]) throws { try connection.send(bytes) }

    /// Sends a whole response.
    package func respond(on stream: UInt32, _ body: String = "ok", status: String = "200") throws {
        try send(
            .headers([(":status", status), ("content-length", "\(body.utf8.count)")], on: stream),
            .data(Array(body.utf8), on: stream, ends: true)
        )
    }

    /// Sends the connection's end, waits until the client has closed it too, and ends the script.
    ///
    /// Closing it with bytes that were not read would reset it, and the client may see the reset before what was sent.
    package func close() throws {
        try connection.perform(.halfClose)
        try connection.perform(.readToEnd)
    }

    /// Responds to all requests until the client closes the connection.
    package func respondToAll() throws { while true { try respond(on: readRequest()) } }

    /// Reads frames up to the next HEADERS frame, and returns its stream.
    ///
    /// Settings and pings are acknowledged.
    package func readRequest() throws -> UInt32 {
        try readFrame { $0.kind == LabHTTP2Frame.Kind.headers }.stream
    }

    /// Reads frames up to one that meets a condition.
    package func readFrame(until condition: (LabHTTP2Frame) -> Bool) throws -> LabHTTP2Frame {
        while true {
            let frame = try readFrame()
            if condition(frame) { return frame }
        }
    }

    /// Reads the next frame.
    package func readFrame() throws -> LabHTTP2Frame {
        let header = Array(try take(9))
        let length = header.prefix(3).reduce(0) { $0 << 8 | Int($1) }
        let stream = header.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let frame = LabHTTP2Frame(header[3], flags: header[4], stream: stream, Array(try take(length)))
        frames.append(frame)
        try acknowledge(frame)
        return frame
    }

    /// Whether bytes of the client are available without waiting.
    package var hasInput: Bool { get throws { try start < input.count || connection.hasInput } }

    private func acknowledge(_ frame: LabHTTP2Frame) throws {
        guard frame.flags & 1 == 0 else { return }
        switch frame.kind {
        case LabHTTP2Frame.Kind.settings: try send(.init(frame.kind, flags: 1))
        case LabHTTP2Frame.Kind.ping: try send(.init(frame.kind, flags: 1, frame.payload))
        default: break
        }
    }

    private func take(_ count: Int) throws -> ArraySlice<UInt8> {
        while input.count - start < count {
            if start > 65_536 {
                input.removeFirst(start)
                start = 0
            }
            input += try connection.receive()
        }
        defer { start += count }
        return input[start..<(start + count)]
    }
}
