/// A step of a server's script for a connection.
///
/// The end of the script closes the connection. If bytes of the client were not read, the kernel sends a reset instead.
package enum ServerStep: Sendable {
    /// Reads a request's head.
    case readHead
    /// Reads the body of the request whose head was read last, by Content-Length or chunked.
    case readBody
    /// Reads a request with its body.
    case readRequest
    /// Reads and discards the body of the request whose head was read last, by its Content-Length.
    case discardBody
    /// Reads this many bytes.
    case readBytes(Int)
    /// Reads until the client closes.
    case readToEnd
    /// Sends bytes, in one piece if the kernel accepts it.
    case sendBytes([UInt8])
    /// Sends bytes one by one, each after an interval.
    case drip([UInt8], every: Duration)
    /// Sends bytes repeatedly until the client closes the connection.
    case flood([UInt8])
    /// Does nothing until the latch opens.
    case await(ServerLatch)
    /// Neither reads nor sends until the client closes the connection.
    case hold
    /// Closes the write half: the client reads the end, and can still send.
    case halfClose
    /// Resets the connection (SO_LINGER of 0).
    case reset
    /// Closes the connection.
    case close
    /// Connects to a port of 127.0.0.1 and relays bytes in both directions; closes in order after a number of bytes
    /// from there.
    case relay(toPort: UInt16, cutAfter: Int?)
    /// Repeats the steps until the connection ends.
    case forever([ServerStep])
    /// Reads a request, and runs the steps that a closure returns for it.
    case respond(@Sendable (ServerRecord.Request) -> [ServerStep])
    /// Runs a closure of the test.
    case custom(@Sendable (ServerConnection) throws -> Void)

    /// Sends a text unchanged; line endings are not converted.
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
