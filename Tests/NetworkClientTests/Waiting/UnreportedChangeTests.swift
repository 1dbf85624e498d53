import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// The state between a change of the network and its notification.
@Suite(.timeLimit(.minutes(5)))
struct UnreportedChangeTests {
    @Test func `an outage that ends before its notification leaves no request waiting`() async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, backlog: 0, accepting: 0) { _ in [] }
            let filler = try FilledBacklog(of: server, in: faults.lab)
            let network = MadeUpNetwork(.wifi)
            var configuration = HTTPConfiguration.lasting
            configuration.gate = .waitsForConnectivity(nil)
            configuration.connectivity = network
            // Without the notification it would wait until this.
            configuration.timeouts.total = .seconds(120)
            let session = try faults.session(configuration)
            let url = "http://127.0.0.1:\(server.port)/"
            let options = RequestOptions(startsAtOnce: false)
            // A connection is being opened, so its path is followed.
            let first = session.get(url, options: options)
            try await first.start(until: "waiting") { if case .waiting = $0 { true } else { false } }
            network.becomeUnheard(.notReachable)
            let second = session.get(url, options: options)
            let events = second.events
            try await second.start(until: "no way") { if case .waitingForConnectivity = $0 { true } else { false } }
            network.becomeUnheard(.wifi)
            network.tell()
            var goesOn = false
            for await event in events {
                if case .finished = event { break }
                if case .waiting = event {
                    goesOn = true
                    break
                }
            }
            #expect(goesOn, "it still waits for a path that is there")
            for request in [first, second] {
                request.cancel()
                _ = try? await request.response()
            }
            try await faults.end(session)
            filler.close()
            try await server.stop()
        }
    }
}

extension RequestHandle {
    /// Starts it, and waits for an event.
    fileprivate func start(until what: String, _ isMet: (RequestEvent) -> Bool) async throws {
        let events = events
        resume()
        for await event in events where isMet(event) { return }
        throw LabError("wait for '\(what)'", errno: 0)
    }
}
