import NetworkClient

// Exchanges messages with a server over a WebSocket: `ExchangingMessages URL [TEXT...]`.

/// Sends texts, and prints the messages of the server until there are as many.
func exchange(_ texts: [String], with session: HTTPSession) async throws {
    let socket = try await session.webSocket("feed")
    for text in texts { try await socket.send(text) }
    var count = 0
    for try await message in socket.messages {
        switch message {
        case .text(let text): print(text)
        case .binary(let bytes): print("\(bytes.count) bytes")
        }
        count += 1
        if count == texts.count { break }
    }
    await socket.close()
}

/// Opens a WebSocket with a subprotocol and compression, for messages of up to 1 MiB.
func openChat(with session: HTTPSession) async throws -> WebSocket {
    let options = WebSocketOptions(
        subprotocols: ["chat.v2", "chat.v1"],
        compression: WebSocketCompression(),
        maximumMessageSize: 1 << 20,
        keepAliveInterval: .seconds(10)
    )
    let socket = try await session.webSocket("chat", webSocketOptions: options)
    print(socket.subprotocol ?? "no subprotocol", socket.isCompressed)
    return socket
}

/// Prints the messages of a WebSocket up to its end.
func printMessages(of socket: WebSocket) async throws(HTTPError) {
    while let message = try await socket.receive() { print(message) }
}

/// Prints messages, and opens another WebSocket when one is lost; while there is no path, the session waits for one.
func follow(with session: HTTPSession) async throws {
    let options = RequestOptions(gate: .waitsForConnectivity(nil), retry: .standard)
    while true {
        let socket = try await session.webSocket("feed", options: options)
        do {
            return try await printMessages(of: socket)
        } catch {
            guard error.code == .connectionLost || error.code == .pathLost else { throw error }
            print("lost:", error.reason)
        }
    }
}

let arguments = CommandLine.arguments.dropFirst()
do {
    let session = try HTTPSession(baseURL: arguments.first ?? "wss://api.example.com/v1")
    if arguments.count > 1 {
        try await exchange(Array(arguments.dropFirst()), with: session)
    } else {
        try await follow(with: session)
    }
} catch {
    print("the WebSocket has failed:", error)
}
