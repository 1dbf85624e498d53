import NetworkClient

// Prints the events of a stream: `FollowingEvents URL [ID]`, with an ID those after that event.

/// Prints the events until the server ends the stream.
func follow(with session: HTTPSession) async throws {
    for try await event in session.events("stream") {
        print(event.id, event.name, event.data)
    }
}

/// Prints the events after one that was processed earlier; the server sends something at least every 30 seconds.
func follow(after id: String, with session: HTTPSession) async throws {
    let options = RequestOptions(timeouts: Timeouts(read: .seconds(45)))
    for try await event in session.events("stream", lastEventID: id, options: options) {
        print(event.id, event.name, event.data)
    }
}

let arguments = CommandLine.arguments.dropFirst()
do {
    let session = try HTTPSession(baseURL: arguments.first ?? "https://api.example.com/v1")
    if let id = arguments.dropFirst().first {
        try await follow(after: id, with: session)
    } else {
        try await follow(with: session)
    }
    print("the server has ended the stream")
} catch {
    print("the stream has failed:", error)
}
