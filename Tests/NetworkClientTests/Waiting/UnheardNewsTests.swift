import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// What is found between a change of the network and the news of it.
@Suite(.timeLimit(.minutes(5)))
struct UnheardNewsTests {
    @Test func `an outage that is over when the news of it come leaves nobody waiting`() async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, backlog: 0, accepting: 0) { _ in [] }
            let filler = try FilledBacklog(of: server, in: faults.lab)
            let network = MadeUpNetwork(.wifi)
            var configuration = HTTPConfiguration.lasting
            configuration.gate = .waitsForConnectivity(nil)
            configuration.connectivity = network
            // Without the news it would wait until this.
            configuration.timeouts.total = .seconds(120)
            let session = try faults.session(configuration)
            let url = "http://127.0.0.1:\(server.port)/"
            let options = RequestOptions(startsAtOnce: false)
            // It is being connected for, and so its way is followed.
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
