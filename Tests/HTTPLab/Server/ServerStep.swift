/// A step of what a server does with a connection.
///
/// A script's end closes the connection. The kernel turns a close into a reset when bytes of the client were not read.
package enum ServerStep: Sendable {
    /// Reads a request's head.
    case readHead
    /// Reads the body of the request whose head was read last, by its length or chunked.
    case readBody
    /// Reads a request, head and body.
    case readRequest
    /// Reads the body of the request whose head was read last, which has a length, and keeps nothing of it but how much.
    case discardBody
    /// Reads this many bytes.
    case readBytes(Int)
    /// Reads until the client closes.
    case readToEnd
    /// Sends bytes, in one piece if the kernel takes it.
    case sendBytes([UInt8])
    /// Sends bytes one by one, each after an interval.
    case drip([UInt8], every: Duration)
    /// Sends bytes over and over until the client goes.
    case flood([UInt8])
    /// Does nothing until the latch opens.
    case await(ServerLatch)
    /// Neither reads nor sends until the client goes.
    case hold
    /// Closes the writing half; the client reads an end, and may go on to send.
    case halfClose
    /// Resets the connection (SO_LINGER of 0).
    case reset
    /// Closes the connection.
    case close
    /// Connects to a port of 127.0.0.1 and carries bytes both ways; closes in order after so many bytes from there.
    case relay(toPort: UInt16, cutAfter: Int?)
    /// Does the steps over and over until the connection ends.
    case forever([ServerStep])
    /// Reads a request, and does the steps that a closure gives for it.
    case respond(@Sendable (ServerRecord.Request) -> [ServerStep])
    /// Does what a test wants.
    case custom(@Sendable (ServerConnection) throws -> Void)

    /// Sends a text as it is; line ends are not made.
    package static func send(_ text: String) -> ServerStep { .sendBytes(Array(text.utf8)) }

    /// Sends a complete response with its length.
    package static func response(
        _ body: String = "",
        status: String = "200 OK",
        headers: [String] = []
    ) -> ServerStep {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        return .send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }
}
