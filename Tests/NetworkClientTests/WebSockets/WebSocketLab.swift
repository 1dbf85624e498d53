import HTTPLab
import NetworkClientCore

@testable import NetworkClient

/// A server of raw frames, and what it has received.
final class WebSocketLab: Sendable {
    /// The frames of the client, in order.
    let frames = Observed<[LabFrame]>([])
    let server: ScriptedServer
    let session: HTTPSession

    /// Starts a server that accepts each request, runs a script, reads up to a Close frame, and returns it.
    ///
    /// - Parameters:
    ///   - fields: Further fields of the response.
    ///   - configuration: The session's configuration.
    ///   - receiveBuffer: The size of the server's receive buffers, in bytes; nil for the kernel's choice.
    ///   - script: The script; the frames that it reads with `readFrame(into:)` are recorded.
    /// - Throws: The errno if it can't listen.
    init(
        _ fields: [String] = [],
        _ configuration: HTTPConfiguration = .lasting,
        receiveBuffer: Int32? = nil,
        script: @escaping @Sendable (ServerConnection, Observed<[LabFrame]>) throws -> Void
    ) throws {
        let frames = frames
        let conversation = ServerStep.custom { connection in
            try connection.acceptWebSocket(fields)
            try script(connection, frames)
            while frames.value.last?.opcode != 8 { try connection.readFrame(into: frames) }
            try connection.send(.init(8, frames.value.last?.payload ?? []))
        }
        server = try ScriptedServer(receiveBuffer: receiveBuffer, always: [conversation])
        session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    /// Opens a WebSocket without pings.
    func open(_ options: WebSocketOptions = .init()) async throws -> WebSocket {
        var options = options
        options.keepAliveInterval = nil
        options.closeTimeout = .seconds(300)
        return try await session.webSocket("", webSocketOptions: options)
    }

    /// The messages and control frames of the client: fragments are joined.
    var received: [LabFrame] { Self.joined(frames.value) }

    private static func joined(_ frames: [LabFrame]) -> [LabFrame] {
        var messages: [LabFrame] = []
        for frame in frames {
            var plain = frame
            plain.key = nil
            if frame.opcode == 0, let last = messages.lastIndex(where: { $0.opcode < 8 }) {
                messages[last].payload += frame.payload
                messages[last].isFinal = frame.isFinal
            } else {
                messages.append(plain)
            }
        }
        return messages
    }
}

extension ServerConnection {
    /// Reads a frame, and records it.
    @discardableResult
    func readFrame(into frames: Observed<[LabFrame]>) throws -> LabFrame {
        let frame = try readFrame()
        frames.update { $0.append(frame) }
        return frame
    }
}

extension WebSocket {
    /// Returns each message, as the clients of test suites do, until the WebSocket is closed.
    func echo() async throws(HTTPError) {
        for try await message in messages { try await send(message) }
    }
}
