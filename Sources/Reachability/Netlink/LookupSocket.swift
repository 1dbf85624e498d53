import CNetlink
import Glibc
import ReachabilityCore

/// Asks the kernel for routes, several at a time, and waits for its answers: 2 µs each, whatever the tables' size.
///
/// Confined to one thread at a time by whoever owns it. The look-ups take no lock of the kernel's configuration.
struct LookupSocket: ~Copyable {
    private let socket: NetlinkSocket
    private let connector: ConnectProbe?
    private let buffer = ReceiveBuffer(size: 8 << 10)
    private var sequence: UInt32 = 0

    /// Opens a socket in the calling thread's network namespace.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        let socket = try NetlinkSocket.open(NETLINK_ROUTE)
        socket.setStrictChecking()
        socket.setCappedAcknowledgements()
        try socket.setReceiveTimeout(microseconds: Self.patience)
        self.socket = socket
        connector = ConnectProbe()
    }

    /// The kernel answers within the send itself; the bound is a guard against a kernel that does not answer at all.
    private static let patience = 500_000

    /// Sends some look-ups at once and collects the answers in the same order.
    ///
    /// - Parameter questions: The flows; with `matchesRoute` for the route as it stands in its table.
    /// - Returns: For each question, the route or the errno.
    /// - Throws: ``NetlinkError`` if the socket fails, or no answer comes.
    mutating func ask(_ questions: [Question]) throws(NetlinkError) -> [Answer] {
        guard !questions.isEmpty else { return [] }
        let first = sequence &+ 1
        var request: [UInt8] = []
        for question in questions {
            sequence &+= 1
            request += NetlinkRequests.lookup(question.flow, sequence: sequence, matchesRoute: question.matchesRoute)
        }
        try socket.send(request)
        return try collect(questions.count, from: first)
    }

    /// The source address that the kernel selects for a connection whose first look-up fails, or the errno for good.
    func connect(_ destination: IPAddress) -> Result<IPAddress, ConnectProbe.Refusal>? {
        connector?.connect(to: destination)
    }

    private func collect(_ count: Int, from first: UInt32) throws(NetlinkError) -> [Answer] {
        var answers = [Answer](repeating: .refused(errno: ETIMEDOUT), count: count)
        var missing = count
        while missing > 0 {
            switch socket.receive(into: buffer, waiting: true) {
            case .datagram(let length): missing -= take(length, from: first, into: &answers)
            case .foreign, .truncated: continue
            case .empty: throw NetlinkError("recvmsg", errno: ETIMEDOUT)
            case .overrun: throw NetlinkError("recvmsg", errno: ENOBUFS)
            case .failed(let errno): throw NetlinkError("recvmsg", errno: errno)
            }
        }
        return answers
    }

    /// Puts a datagram's answers in their places; tells how many there were.
    private func take(_ length: Int, from first: UInt32, into answers: inout [Answer]) -> Int {
        var taken = 0
        buffer.withDatagram(length) { bytes in
            try? NetlinkDecoder().decode(bytes) { header, event in
                let position = Int(header.sequence &- first)
                guard answers.indices.contains(position), let answer = Answer(event) else { return }
                answers[position] = answer
                taken += 1
            }
        }
        return taken
    }

    /// One look-up to make.
    struct Question {
        var flow: ProbeFlow
        var matchesRoute = false
    }

    /// What the kernel says to one look-up.
    enum Answer {
        case route(RouteMessage)
        case refused(errno: Int32)

        fileprivate init?(_ event: KernelEvent) {
            switch event {
            case .route(let message): self = .route(message)
            case .error(let errno): self = .refused(errno: errno)
            default: return nil
            }
        }
    }
}
