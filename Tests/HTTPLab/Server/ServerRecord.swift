/// What a server has seen of one connection.
public struct ServerRecord: Sendable {
    /// How a connection ended.
    public enum End: Sendable, Hashable {
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
    public struct Request: Sendable, Hashable {
        /// Its head with the empty line.
        public var head: String
        /// Its body; of a chunked one, the content.
        public var body: [UInt8]

        /// The value of a field, the first if there are several; the name's case does not count.
        public func field(_ name: String) -> String? {
            let lines = head.split(separator: "\r\n")
            let line = lines.first { $0.lowercased().hasPrefix("\(name.lowercased()):") }
            return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    /// Its position in the order of acceptance.
    public var number: Int
    /// Every byte that was read of it, in order.
    public var received: [UInt8] = []
    /// How many bytes of bodies were read and not kept.
    public var discarded = 0
    /// The requests that the script read as such.
    public var requests: [Request] = []
    /// How the client ended it, as soon as the server saw it; nil before.
    public var clientEnd: End?
    /// How it ended; nil while it is open.
    public var end: End?
    /// When its descriptor was closed here.
    public var ended: ContinuousClock.Instant?

    /// What was read, as text.
    public var text: String { String(decoding: received, as: UTF8.self) }
}

extension ServerRecord: CustomStringConvertible {
    /// What was seen, in a line: of what was read, the number of bytes.
    public var description: String {
        let heads = requests.map { $0.head.prefix { $0 != "\r\n" } }.joined(separator: ", ")
        let ending = end.map { "\($0)" } ?? "open"
        return "connection \(number): \(received.count) bytes, requests [\(heads)], \(ending)"
    }
}
