import CommandLineLab
import EventCore
import EventServer
import Glibc
import Locking
import NIOCore
import NetwatchCore
import NetworkLab
import ReachabilityCore

@testable import netwatchd

extension EventServerLimits {
    /// The usual limits, with times that are longer than a busy machine takes for a request.
    static var lab: Self {
        var limits = Self()
        limits.headTimeout = .seconds(600)
        limits.drainTimeout = .seconds(60)
        limits.pathTimeout = .seconds(600)
        return limits
    }
}

/// A server in this process, on a Unix socket of its own, whose events the test publishes.
final class ServerLab: Sendable {
    /// The run of each server.
    static let run: UInt64 = 7

    let server: EventServer
    let path: String
    private let sequence = Lock<UInt64>(0)
    /// The subscriptions to paths: the hosts, and how to send lines.
    let paths = LabInbox<PathRequest>()

    /// A subscription to the path to a host.
    struct PathRequest: Sendable {
        let host: String
        let send: @Sendable ([UInt8]) -> Void
        let hasEnded: Ended
    }

    /// Becomes true when a subscription is released.
    final class Ended: Sendable {
        let inbox = LabInbox<Bool>()
    }

    private final class Subscription: Sendable {
        let ended = Ended()
        deinit { ended.inbox.put(true) }
    }

    /// Starts a server; a silent one does not describe the machine.
    init(
        run: UInt64 = ServerLab.run,
        path chosen: String? = nil,
        store: (any EventStore)? = nil,
        _ change: (inout EventServerLimits) -> Void = { _ in },
        isSilent: Bool = false,
        validates: Bool = false
    ) throws {
        var limits = EventServerLimits.lab
        change(&limits)
        let paths = paths
        var sources = EventSources(
            path: { (host, send) throws(RequestRefusal) in
                guard host != "no host" else { throw .init(400, "'\"' is no host") }
                let subscription = Subscription()
                paths.put(.init(host: host, send: send, hasEnded: subscription.ended))
                return subscription
            },
            now: { .init(sinceBoot: 0, since1970: 0) },
            details: { event, send in send(Array("{\"seq\":\(event.change.sequence),\"wifi\":{}}\n".utf8)) }
        )
        if isSilent { sources.network = { _ in } }
        server = EventServer(run: run, sources: sources, store: store, limits: limits, validates: validates)
        path = try chosen ?? Self.makeFolder() + "/events.sock"
        let socket = try UnixSocket(path: path).open()
        try server.listen(on: socket.descriptor, socket.access)
    }

    private static func makeFolder() throws -> String {
        var template = Array("/tmp/netwatch-events-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? server.stop()
        unlink(path)
        rmdir(String(path.dropLast("/events.sock".count)))
    }

    /// Publishes events, and gives the number of the last.
    @discardableResult
    func publish(_ count: Int = 1, padding: Int = 0, carrier: NetworkInterface? = nil) -> UInt64 {
        sequence.withLock { sequence in
            for _ in 0..<count {
                sequence += 1
                server.publish(Self.event(sequence, padding, carrier))
            }
            return sequence
        }
    }

    /// An event with members enough for the tests.
    static func event(
        _ sequence: UInt64,
        _ padding: Int = 0,
        _ carrier: NetworkInterface? = nil
    ) -> PublishedEvent {
        var change = ReachabilityChange(
            event: .change,
            status: .wifi,
            previous: nil,
            path: .init(status: .wifi),
            reasons: [.routeAdded],
            sequence: sequence
        )
        change.path.carriers = carrier.map { [$0] } ?? []
        let more = String(repeating: "x", count: padding)
        let line = { (event: String) in
            Array(#"{"v":1,"seq":\#(sequence),"event":"\#(event)","x":"\#(more)"}"#.utf8) + [10]
        }
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        return .init(
            change: change,
            time: time,
            line: line("change"),
            state: line("state"),
            detailedState: line("state")
        )
    }

    static func id(_ sequence: UInt64) -> String { EventID(run: run, sequence: sequence).description }

    func client() throws -> EventClient { try EventClient(path: path) }

    /// Sends a request on a connection of its own, and reads the response.
    func get(_ target: String, _ fields: String..., method: String = "GET") throws -> EventClient.Response {
        let client = try client()
        client.send((["\(method) \(target) HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n"))
        return try client.response(hasBody: method != "HEAD")
    }

    /// Follows the events, up to the head of the response.
    func follow(_ target: String = "/v1/events", _ fields: String...) throws -> EventClient {
        let client = try client()
        client.send((["GET \(target) HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n"))
        guard try client.head().status == 200 else { throw LabError("follow \(target)", errno: EPROTO) }
        return client
    }
}
