import CommandLineSupport
import EventService
import Glibc
import LinuxSystem
import Locking
import ReachabilityCore
import Synchronization

/// Follows a stream of server-sent events of the event service on a thread of its own, and connects again after each end.
final class ServiceStream: Sendable {
    /// An event of the stream.
    struct Event: Sendable {
        /// The id; nil if it has none.
        let id: String?
        let data: [UInt8]
    }

    private let socket: String
    private let target: String
    private let lastID: @Sendable () -> String?
    private let receive: @Sendable (Event) -> Void
    private let fail: @Sendable (String) -> Void
    private let wakeup: Wakeup
    private let thread = SystemThread()
    private let isStopped = Atomic(false)

    /// The time without data after which the connection counts as lost: the service sends a comment every 30 s.
    private static let idleTimeout = Duration.seconds(75)
    private static let delays = Duration.milliseconds(100)...Duration.seconds(5)

    /// Creates a stream that is not started.
    ///
    /// - Parameters:
    ///   - socket: The socket of the service.
    ///   - target: The path and the query.
    ///   - lastID: Returns the id of the event after which a connection begins.
    ///   - receive: Takes an event, on the thread; while it blocks, nothing is read.
    ///   - fail: Takes the reason why a connection ended or could not be made.
    /// - Throws: The errno of eventfd(2).
    init(
        _ socket: String,
        _ target: String,
        lastID: @escaping @Sendable () -> String? = { nil },
        receive: @escaping @Sendable (Event) -> Void,
        fail: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        (self.socket, self.target, self.lastID, self.receive, self.fail) = (socket, target, lastID, receive, fail)
        wakeup = try Wakeup()
    }

    func start() throws(SystemError) { try thread.start("netwatch-events", stackSize: 256 << 10) { [self] in run() } }

    /// Ends the thread, and waits for that.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeup.signal()
        thread.waitForEnd()
    }

    private func run() {
        var delay = Self.delays.lowerBound
        while !isStopped.load(ordering: .acquiring) {
            var hasReceived = false
            do throws(SystemError) {
                try follow(&hasReceived)
                fail("the service closed the connection")
            } catch {
                if error.code != ECANCELED { fail("cannot follow the events of '\(socket)': \(error)") }
            }
            delay = hasReceived ? Self.delays.lowerBound : min(delay * 2, Self.delays.upperBound)
            wakeup.wait(until: SystemClock.now.advanced(by: delay * Double.random(in: 0.5...1)))
        }
    }

    private func follow(_ hasReceived: inout Bool) throws(SystemError) {
        var connection = try EventSocket(path: socket)
        let last = lastID().map { ["Last-Event-ID: \($0)"] } ?? []
        try connection.send(target, ["Accept: text/event-stream"] + last)
        guard try connection.status(wakeup) == 200 else { throw .init(code: EPROTO) }
        var (id, data): (String?, [UInt8]) = (nil, [])
        while let line = try connection.line(Self.idleTimeout, wakeup) {
            if let value = Self.value(of: "id: ", in: line) { id = String(decoding: value, as: UTF8.self) }
            if let value = Self.value(of: "data: ", in: line) { data = Array(value) }
            guard line.isEmpty, !data.isEmpty else { continue }
            hasReceived = true
            receive(.init(id: id, data: data))
            (id, data) = (nil, [])
        }
    }

    private static func value(of name: StaticString, in line: [UInt8]) -> ArraySlice<UInt8>? {
        let head = name.withUTF8Buffer { Array($0) }
        return line.starts(with: head) ? line[head.count...] : nil
    }
}
