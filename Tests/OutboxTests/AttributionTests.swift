import Foundation
import HTTPLab
import NIOCore
import NIOPosix
import NetworkClientTesting
import NetworkLab
import Outbox
import OutboxCore
import Testing

@testable import NetworkClient

/// Failures of the destination, with many items: none ends, one probe at a time is sent, and all are delivered after the
/// repair.
///
/// `NETWATCH_OUTBOX_ITEMS` is the number of items; 500 by default.
@Suite(.timeLimit(.minutes(15))) struct AttributionTests {
    private static let count =
        ProcessInfo.processInfo.environment["NETWATCH_OUTBOX_ITEMS"].flatMap { Int($0) } ?? 500
    private static let width = 8
    private let attempts = AttemptCount()

    /// Counts the attempts, also those that reach no server.
    private struct AttemptCount: RequestInterceptor {
        let number = Observed(0)

        func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
            number.update { $0 += 1 }
            return request
        }
    }

    private func fill(_ lane: OutboxLane) async throws {
        try await withThrowingTaskGroup { group in
            for task in 0..<50 {
                group.addTask {
                    for number in stride(from: task, to: Self.count, by: 50) {
                        try await lane.post("accept", .text("\(number)"))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until a lane has failed a number of times in a row.
    private func waitForFailures(_ count: Int, _ outbox: Outbox) async throws {
        while try await outbox.storage.lanes().first?.pause?.failures ?? 0 < count {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func run(_ outbox: Outbox, _ clock: LabClock, repair: () async throws -> Void) async throws {
        try await waitForFailures(1, outbox)
        for failures in 2...5 {
            clock.advance(by: .seconds(3_700))
            try await outbox.wake()
            try await waitForFailures(failures, outbox)
        }
        #expect(try await outbox.statistics().items == Self.count)
        #expect(try await outbox.items().allSatisfy { $0.attempts == 0 })
        // The first failures are those of all that were under way; then one probe follows each pause.
        #expect((5...Self.width + 4).contains(attempts.number.value))
        try await repair()
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        _ = try await outbox.next(Self.count)
        #expect(try await outbox.statistics().ended == [.delivered: Self.count])
    }

    @Test(arguments: ["401 Unauthorized", "503 Service Unavailable", "302 Found"])
    func `a status of the destination ends no item, and one probe at a time is sent`(status: String) async throws {
        let isRepaired = Observed(false)
        let lab = try OutboxLab(interceptors: [attempts]) { _ in
            isRepaired.value ? [.response()] : [.response(status: status)]
        }
        let clock = LabClock()
        let adding = try await lab.open(clock, sends: false)
        try await fill(lab.lane(adding))
        let outbox = try await lab.open(clock)
        try await run(outbox, clock) { isRepaired.update { $0 = true } }
        let delivered = lab.server.requests.value.suffix(Self.count)
        #expect(Set(delivered.map(\.body)).count == Self.count)
        // Not all at the same moment: no more than the lane's width were ever under way.
        #expect(Set(delivered.map(\.connection)).count <= Self.width)
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `a captive portal's responses deliver nothing`() async throws {
        let isRepaired = Observed(false)
        let lab = try OutboxLab(interceptors: [attempts]) { _ in
            isRepaired.value ? [.response(headers: ["X-Server: yes"])] : [.response("please sign in")]
        }
        let clock = LabClock()
        let adding = try await lab.open(clock, sends: false)
        try await fill(lab.lane(adding, .init(confirmation: .field("X-Server"))))
        let outbox = try await lab.open(clock)
        try await run(outbox, clock) { isRepaired.update { $0 = true } }
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `the delay of a captive portal's response is not the server's`() async throws {
        let (network, isRepaired) = (ScriptedMonitor(.wifi), Observed(false))
        let lab = try OutboxLab(connectivity: network, retry: .standard) { _ in
            if isRepaired.value { return [.response(headers: ["X-Server: yes"])] }
            return [.response(status: "503 Service Unavailable", headers: ["Retry-After: 86400"])]
        }
        let outbox = try await lab.open()
        try await lab.lane(outbox, .init(confirmation: .field("X-Server"))).post("a", options: .init(key: .none))
        try await waitForFailures(1, outbox)
        #expect(try await outbox.storage.lanes().first?.pause?.retryAfterEnd == nil)
        network.status = .notReachable
        isRepaired.update { $0 = true }
        network.status = .cellular
        #expect(try await outbox.next(1).first?.end == .delivered)
        await outbox.shutdown()
    }

    @Test func `a server that does not listen ends no item`() async throws {
        let (lab, clock) = (try OutboxLab(interceptors: [attempts]), LabClock())
        let adding = try await lab.open(clock, sends: false)
        try await fill(adding.lane("readings", to: "https://127.0.0.1:1"))
        let outbox = try await lab.open(clock)
        try await run(outbox, clock) { try await lab.lane(adding).update() }
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `an expired certificate ends no item`() async throws {
        let (authority, folder) = (try CertificateAuthority(), try LabFolder())
        let (expired, valid) = try (
            serve(authority, .expired, folder, "expired"), serve(authority, .now, folder, "valid")
        )
        let tls = TLSOptions(roots: try .only(authority.root.der))
        let (lab, clock) = (try OutboxLab(tls: tls, interceptors: [attempts]), LabClock())
        let adding = try await lab.open(clock, sends: false)
        try await fill(adding.lane("readings", to: "https://127.0.0.1:\(expired.securePort)"))
        let outbox = try await lab.open(clock)
        try await run(outbox, clock) {
            #expect(try await outbox.items().first?.failure?.contains("expired") == true)
            try await adding.lane("readings", to: "https://127.0.0.1:\(valid.securePort)").update()
        }
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test(.enabled(if: NameServiceSetup.isPlain, Comment(rawValue: NameServiceSetup.advice)))
    func `a name that does not exist ends no item`() async throws {
        let (network, isRepaired, clock) = (try LabNamespace(), Observed(false), LabClock())
        let names = try NameServer(in: network) { _ in isRepaired.value ? .address(127, 0, 0, 1) : .code(3) }
        let server = try ScriptedServer(in: network, always: [.forever([.readRequest, .response()])])
        let group = try network.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        let configuration = HTTPConfiguration(
            timeouts: OutboxLab.patient,
            proxy: .direct,
            interceptors: [attempts],
            connectivity: ScriptedMonitor(.wifi)
        )
        let session = try HTTPSession(baseURL: nil, configuration, loop: group.any(), NameResolver())
        let folder = try LabFolder()
        let outbox = try await Outbox(
            at: "\(folder.path)/box",
            session,
            .init(minimumFreeSpace: 0),
            clock: clock.machine
        )
        let lane = outbox.lane("readings", to: "http://robot.test:\(server.port)", .init(confirmation: .any))
        try await lane.update()
        try await outbox.storage.setPaused(true, lane: lane.name)
        try await fill(lane)
        try await outbox.storage.setPaused(false, lane: lane.name)
        try await run(outbox, clock) {
            #expect(names.questions.value.contains("robot.test"))
            isRepaired.update { $0 = true }
        }
        await outbox.shutdown()
        session.invalidate()
        try await group.shutdownGracefully()
        names.stop()
    }

    private func serve(
        _ authority: CertificateAuthority,
        _ validity: CertificateRequest.Validity,
        _ folder: LabFolder,
        _ name: String
    ) throws -> Nginx {
        var options = Nginx.Options()
        options.certificate = try authority.issue(validity: validity).write(to: folder, as: name)
        return try Nginx(options)
    }
}
