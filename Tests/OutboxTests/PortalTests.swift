import HTTPLab
import NetworkClient
import NetworkClientTesting
import Outbox
import Testing

/// Items behind a captive portal that responds with 200 to everything.
@Suite(.timeLimit(.minutes(5))) struct PortalTests {
    private let network = ScriptedMonitor()
    private let isOpen = Observed(false)
    private let portalStatus = Observed("200 OK")
    private let clock = LabClock()
    private let folder: LabFolder
    private let server: AnsweringServer

    init() throws {
        let (isOpen, portalStatus) = (isOpen, portalStatus)
        folder = try LabFolder()
        server = try AnsweringServer { _ in
            isOpen.value ? [.response("done")] : [.response("<html>Log in</html>", status: portalStatus.value)]
        }
        network.validationStatus = .portal
    }

    private func outbox(_ requirement: ValidationRequirement) async throws -> Outbox {
        let configuration = HTTPConfiguration(
            timeouts: OutboxLab.patient,
            proxy: .all(try .init("http://127.0.0.1:\(server.port)")),
            validation: network,
            validationRequirement: requirement,
            connectivity: network
        )
        return try await Outbox(
            at: "\(folder.path)/box",
            HTTPSession(configuration: configuration),
            .init(minimumFreeSpace: 0),
            clock: clock.machine
        )
    }

    /// A lane that takes any response, as if the network had no portals.
    private func lane(_ outbox: Outbox) -> OutboxLane {
        outbox.lane("readings", to: "http://own.example/v1", .init(confirmation: .any))
    }

    @Test(arguments: [true, false], ["200 OK", "404 Not Found"])
    func `a portal's response ends no item, also where any response is taken`(
        isDownload: Bool,
        status: String
    ) async throws {
        portalStatus.update { $0 = status }
        let outbox = try await outbox(.any)
        let file = "\(folder.path)/map"
        if isDownload {
            try await lane(outbox).download("readings", to: file)
        } else {
            try await lane(outbox).post("readings", .text("1"))
        }
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        let reason = try await outbox.storage.lanes().first?.reason
        #expect(reason?.contains("captive portal") == true, "\(reason ?? "-")")
        #expect(try await outbox.items().count == 1 && server.requests.value.count == 1)
        isOpen.update { $0 = true }
        network.validationStatus = .validated
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .delivered)
        if !isDownload { #expect(outcome.response?.body == Array("done".utf8)) }
    }

    @Test func `items wait behind a portal without being sent, and are delivered once it opens`() async throws {
        let outbox = try await outbox(.validated)
        for number in 0..<20 { try await lane(outbox).post("readings", .text("\(number)")) }
        try await network.waitUntilValidationIsWatched()
        #expect(server.requests.value.isEmpty)
        isOpen.update { $0 = true }
        network.validationStatus = .validated
        let outcomes = try await outbox.next(20)
        #expect(outcomes.allSatisfy { $0.end == .delivered && $0.response?.body == Array("done".utf8) })
        #expect(server.requests.value.count == 20)
    }
}
