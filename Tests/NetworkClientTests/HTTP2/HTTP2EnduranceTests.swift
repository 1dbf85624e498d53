import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import NetworkClient

/// Many requests that are cancelled, and connections that end, at random times.
@Suite(.timeLimit(.minutes(20)))
struct HTTP2EnduranceTests {
    /// The outcomes of requests.
    private struct Tally: Sendable {
        var succeeded = 0
        var cancelled = 0
        var others: [String] = []

        static func + (left: Self, right: Self) -> Self {
            .init(
                succeeded: left.succeeded + right.succeeded,
                cancelled: left.cancelled + right.cancelled,
                others: left.others + right.others
            )
        }
    }

    @Test(.enabled(if: HTTP2Server.areInstalled, Comment(rawValue: HTTP2Server.advice)))
    func `a connection stays usable while requests are cancelled at random times`() async throws {
        let server = try HTTP2Server(.nghttpd, streams: 32, isVerbose: true)
        var configuration = try HTTPConfiguration.http2()
        configuration.maximumConnectionsPerHost = 1
        let session = try HTTPSession(baseURL: server.url + "/", configuration: configuration)
        // nghttpd closes a connection whose SETTINGS is not acknowledged within ten seconds, which a busy machine may take.
        var isConnected = false
        for _ in 0..<5 where !isConnected { isConnected = (try? await session.get("small.txt").response()) != nil }
        let tally = await Self.sum(workers: 64) { worker in
            await cancelAtRandom(session, Endurance.multiplexedRequests / 64, seed: worker)
        }
        let ends = try server.endsOfConnections
        #expect(tally.others == [], "seed \(Endurance.seed); what the server says: \(ends)")
        #expect(tally.cancelled > 0)
        #expect(tally.succeeded > 0)
        #expect(session.requests.isEmpty)
        let requests = (0..<64).map { _ in session.get("small.txt") }
        for request in requests { #expect(try await request.bytes().count == 1000) }
    }

    @Test func `no place for a stream is lost by cancelled requests`() async throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                let peer = try HTTP2Peer(connection, settings: [(3, 50)])
                var open: Set<UInt32> = []
                while true {
                    let frame = try peer.readFrame()
                    switch frame.kind {
                    case LabHTTP2Frame.Kind.headers: open.insert(frame.stream)
                    case LabHTTP2Frame.Kind.reset: open.remove(frame.stream)
                    default: break
                    }
                    // All places are taken: responds to all at once.
                    guard open.count == 50 else { continue }
                    for stream in open { try peer.respond(on: stream) }
                    open = []
                }
            }
        ])
        var configuration = try HTTPConfiguration.http2()
        configuration.maximumConnectionsPerHost = 1
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: configuration
        )
        for round in 0..<40 {
            let requests = (0..<49).map { _ in session.get("") }
            let tasks = requests.map { request in Task { try await request.response() } }
            if round % 2 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            for request in requests { request.cancel() }
            for task in tasks { _ = await task.result }
        }
        let requests = (0..<200).map { _ in session.get("") }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(session.requests.isEmpty)
    }

    @Test func `GOAWAY at random times loses no request, and repeats none`() async throws {
        let processed = Observed<[UInt64: Int]>([:])
        let server = try ScriptedServer { number in
            [.custom { try Self.endAtRandom($0, seed: UInt64(number), processed) }]
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .http2()
        )
        let count = Endurance.multiplexedRequests
        let tally = await Self.sum(workers: 50) { worker in
            var tally = Tally()
            for turn in 0..<UInt64(count / 50) {
                let number = UInt64(worker) << 32 | turn
                let body = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
                do {
                    _ = try await session.post("", body: .bytes(body)).response()
                    tally.succeeded += 1
                } catch {
                    tally.others.append("\(error)")
                }
            }
            return tally
        }
        #expect(tally.others == [])
        #expect(tally.succeeded == count / 50 * 50)
        #expect(processed.value.count == tally.succeeded)
        #expect(processed.value.values.allSatisfy { $0 == 1 })
        #expect(server.connections.count > 5)
        #expect(session.requests.isEmpty)
    }

    /// Processes requests by the number in their body, and ends the connection at a random time.
    private static func endAtRandom(
        _ connection: ServerConnection,
        seed: UInt64,
        _ processed: Observed<[UInt64: Int]>
    ) throws {
        var generator = SeededGenerator(seed: Endurance.seed &* 7919 &+ seed)
        let peer = try HTTP2Peer(connection)
        var held: [UInt32] = []
        var last: UInt32?
        // The bodies of streams may arrive in another order than their heads.
        var highest: UInt32 = 0
        while true {
            let frame = try peer.readFrame()
            if frame.kind == LabHTTP2Frame.Kind.data, frame.stream <= last ?? .max {
                let number = frame.payload.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                processed.update { $0[number, default: 0] += 1 }
                held.append(frame.stream)
                highest = max(highest, frame.stream)
                if last == nil, Int.random(in: 0..<80, using: &generator) == 0 {
                    last = highest
                    try peer.send(.goAway(highest))
                }
            }
            // After any frame: the last one of those that were received together may be one without a request.
            let hasMore = try peer.hasInput
            guard last != nil || !hasMore || Bool.random(using: &generator) else { continue }
            for stream in held.shuffled(using: &generator) { try peer.respond(on: stream) }
            held = []
        }
    }

    /// Makes requests one after the other, and cancels three of ten at a random time.
    private func cancelAtRandom(_ session: HTTPSession, _ count: Int, seed: Int) async -> Tally {
        var generator = SeededGenerator(seed: Endurance.seed &* 1000 &+ UInt64(seed))
        var tally = Tally()
        for _ in 0..<count {
            let request = session.get(Int.random(in: 0..<50, using: &generator) == 0 ? "large.bin" : "small.txt")
            let task = Task { try await request.response().status }
            var timer: Scheduled<Void>?
            if Int.random(in: 0..<10, using: &generator) < 3 {
                let delay = TimeAmount.microseconds(.random(in: 0..<2000, using: &generator))
                timer = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: delay) { request.cancel() }
            }
            switch await task.result {
            case .success(200): tally.succeeded += 1
            case .failure(let error as HTTPError) where error.code == .cancelled: tally.cancelled += 1
            case let other: tally.others.append("\(other)")
            }
            timer?.cancel()
        }
        return tally
    }

    private static func sum(workers: Int, _ work: @escaping @Sendable (Int) async -> Tally) async -> Tally {
        await withTaskGroup(of: Tally.self) { group in
            for worker in 0..<workers { group.addTask { await work(worker) } }
            return await group.reduce(into: Tally()) { $0 = $0 + $1 }
        }
    }
}
