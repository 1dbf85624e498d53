import HTTPLab
import NetworkLab
import Reachability
import Testing

@testable import NetworkClient

/// The results of many requests while their link flaps, compared with what the server has processed.
@Suite(.timeLimit(.minutes(10)))
struct LinkChaosTests {
    /// The number of concurrent requests.
    private static let width = 500

    /// The outcome of a request.
    private struct Outcome: Sendable {
        var request: StormedRequest
        var error: HTTPError?
    }

    @Test func `a link that flaps doubles nothing that may not be doubled, and loses nothing that can be repeated`()
        async throws
    {
        let lab = try UplinkLab()
        let server = try JournalServer(in: lab) { $0.stormyResponse }
        let monitor = try ReachabilityMonitor(configuration: .inside(lab.machine))
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        let counter = FinishCounter()
        let outcomes = try await LabLoops.run(in: lab.machine) { loops in
            let configuration = Self.configuration(monitor, counter)
            let session = try HTTPSession(baseURL: server.url, configuration, loop: loops.loop, NameResolver())
            let outcomes = try await Self.weather(session, lab)
            #expect(session.requests.isEmpty)
            session.invalidate()
            return outcomes
        }
        try await server.stop()
        #expect(outcomes.count > Self.width)
        #expect(counter.all.count == outcomes.count)
        #expect(counter.all.allSatisfy { $0 == .init(finished: 1) }, "each finishes once, and nothing comes after")
        Self.compare(outcomes, with: server.journal.value)
    }

    private static func configuration(_ monitor: ReachabilityMonitor, _ counter: FinishCounter) -> HTTPConfiguration {
        var configuration = HTTPConfiguration(timeouts: .lasting, maximumConnectionsPerHost: 32)
        // A request that is never woken up fails with this.
        configuration.timeouts.total = .seconds(240)
        configuration.eventMonitors = [counter]
        configuration.gate = .waitsForConnectivity(nil)
        configuration.retry = .init(
            maximumAttempts: 1_000,
            baseDelay: .milliseconds(5),
            maximumDelay: .milliseconds(50)
        )
        // Short enough that connections are given up during requests.
        configuration.pathLoss = .waitInFlight(.milliseconds(10))
        configuration.connectivity = monitor
        return configuration
    }

    /// Keeps a number of requests running until the storm is over, and waits for the last of them.
    private static func weather(_ session: HTTPSession, _ lab: UplinkLab) async throws -> [Outcome] {
        let isOver = Observed(false)
        return try await withThrowingTaskGroup(of: [Outcome].self) { group in
            for worker in 0..<width {
                group.addTask {
                    var outcomes: [Outcome] = []
                    repeat {
                        let kinds = StormedRequest.Kind.allCases
                        let kind = kinds[(worker + outcomes.count) % kinds.count]
                        let request = StormedRequest(kind: kind, target: "\(worker)/\(outcomes.count)")
                        outcomes.append(Outcome(request: request, error: await request.make(in: session).failure()))
                    } while !isOver.value
                    return outcomes
                }
            }
            group.addTask {
                defer { isOver.update { $0 = true } }
                try await LinkStorm().rage(over: lab)
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Compares the results with what the server has processed.
    private static func compare(_ outcomes: [Outcome], with journal: [JournalServer.Entry]) {
        let processed = Dictionary(grouping: journal, by: \.target)
        var wrong: [String] = []
        for outcome in outcomes {
            let entries = processed["/\(outcome.request.target)"] ?? []
            if let fault = fault(of: outcome, entries) { wrong.append("\(outcome.request): \(fault)") }
        }
        #expect(wrong.isEmpty, "seed \(LinkStorm.seed): \(wrong.count) of \(outcomes.count): \(wrong.prefix(5))")
        #expect(processed.count <= outcomes.count, "nothing was processed that nobody asked for")
        let repeated = outcomes.count { (processed["/\($0.request.target)"]?.count ?? 0) > 1 }
        let failed = outcomes.count { $0.error != nil }
        print("\(LinkStorm.flaps) flaps: \(outcomes.count) requests, \(repeated) repeated, \(failed) failed")
    }

    /// Returns the fault in a request's outcome; nil if there is none.
    private static func fault(of outcome: Outcome, _ entries: [JournalServer.Entry]) -> String? {
        if Set(entries.map(\.key)).count > 1 { return "it changed its key" }
        if (entries.first?.key != nil) != (outcome.request.kind == .keyedPost), !entries.isEmpty { return "its key" }
        guard let error = outcome.error else {
            if entries.isEmpty { return "answered, and not processed" }
            return !outcome.request.isRepeatable && entries.count > 1 ? "processed \(entries.count) times" : nil
        }
        if outcome.request.isRepeatable { return "failed though it can be repeated: \(error)" }
        switch error.processing {
        case .neverSent, .refusedUnprocessed: return entries.isEmpty ? nil : "processed, and not known of: \(error)"
        case .maybeProcessed, .answered: return entries.count > 1 ? "processed \(entries.count) times" : nil
        }
    }
}

extension DataRequest {
    /// The error; nil if it succeeded.
    fileprivate func failure() async -> HTTPError? {
        do throws(HTTPError) {
            _ = try await bytes()
            return nil
        } catch {
            return error
        }
    }
}

extension MonitorConfiguration {
    /// A configuration for a test's own namespace.
    fileprivate static func inside(_ lab: LabNamespace) -> Self {
        var configuration = Self()
        configuration.namespace = .path(lab.path)
        return configuration
    }
}
