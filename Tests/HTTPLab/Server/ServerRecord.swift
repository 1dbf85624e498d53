/// What a server has seen of one connection.
package struct ServerRecord: Sendable {
    /// How a connection ended.
    package enum End: Sendable, Hashable {
        /// The client closed it, or its writing half, in order.
        case closedByClient
        /// The client reset it.
        case resetByClient
        /// The script closed it, or came to its end.
        case closedHere
        /// The server was stopped.
        case stopped
    }

    /// A request that was read as such.
    package struct Request: Sendable, Hashable {
        /// Its head with the empty line.
        package var head: String
        /// Its body; of a chunked one, the content.
        package var body: [UInt8]

        /// The value of a field, the first if there are several; the name's case does not count.
        package func field(_ name: String) -> String? {
            let lines = head.split(separator: "\r\n")
            let line = lines.first { $0.lowercased().hasPrefix("\(name.lowercased()):") }
            return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    /// Its position in the order of acceptance.
    package var number: Int
    /// Every byte that was read of it, in order.
    package var received: [UInt8] = []
    /// How many bytes of bodies were read and not kept.
    package var discarded = 0
    /// The requests that the script read as such.
    package var requests: [Request] = []
    /// How the client ended it, as soon as the server saw it; nil before.
    package var clientEnd: End?
    /// How it ended; nil while it is open.
    package var end: End?
    /// When its descriptor was closed here.
    package var ended: ContinuousClock.Instant?

    /// What was read, as text.
    package var text: String { String(decoding: received, as: UTF8.self) }
}

extension ServerRecord: CustomStringConvertible {
    /// What was seen, in a line: of what was read, the number of bytes.
    package var description: String {
        let heads = requests.map { $0.head.prefix { $0 != "\r\n" } }.joined(separator: ", ")
        let ending = end.map { "\($0)" } ?? "open"
        return "connection \(number): \(received.count) bytes, requests [\(heads)], \(ending)"
    }
}
