/// The server's record of one connection.
package struct ServerRecord: Sendable {
    /// The reasons for the end of a connection.
    package enum End: Sendable, Hashable {
        /// The client closed it, or its write half, in order.
        case closedByClient
        /// The client reset it.
        case resetByClient
        /// The script closed it, or ended.
        case closedHere
        /// The server was stopped.
        case stopped
    }

    /// A request that the script read.
    package struct Request: Sendable, Hashable {
        /// The head, including the empty line.
        package var head: String
        /// The body, without chunk framing.
        package var body: [UInt8]

        /// Returns the value of a field, the first if there are several; the name is case-insensitive.
        package func field(_ name: String) -> String? {
            let lines = head.split(separator: "\r\n")
            let line = lines.first { $0.lowercased().hasPrefix("\(name.lowercased()):") }
            return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    /// Its position in the order of acceptance.
    package var number: Int
    /// The bytes that were read, in order.
    package var received: [UInt8] = []
    /// The number of bytes of discarded bodies.
    package var discarded = 0
    /// The requests that the script read.
    package var requests: [Request] = []
    /// How the client ended it; nil until the server detects it.
    package var clientEnd: End?
    /// How it ended; nil while it is open.
    package var end: End?
    /// When the server closed its descriptor.
    package var ended: ContinuousClock.Instant?

    /// The bytes that were read, as text.
    package var text: String { String(decoding: received, as: UTF8.self) }
}

extension ServerRecord: CustomStringConvertible {
    /// The record in one line, with the number of bytes instead of the bytes.
    package var description: String {
        let heads = requests.map { $0.head.prefix { $0 != "\r\n" } }.joined(separator: ", ")
        let ending = end.map { "\($0)" } ?? "open"
        return "connection \(number): \(received.count) bytes, requests [\(heads)], \(ending)"
    }
}
