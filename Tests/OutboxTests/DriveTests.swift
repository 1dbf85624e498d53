import Foundation
import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Outbox
import OutboxCore
import Reachability
import ReachabilityCore
import Testing

@testable import NetworkClient

/// A drive of eight hours, played in seconds: the link changes between Wi-Fi, a modem and nothing, while three lanes with
/// different constraints have items to send.
///
/// `NETWATCH_DRIVE` is the number of readings, 400 by default; 100,000 and more make the files 1 to 50 MiB large.
@Suite(.blocksItsThread, .timeLimit(.minutes(30))) struct DriveTests {
    private static let readings = ProcessInfo.processInfo.environment["NETWATCH_DRIVE"].flatMap { Int($0) } ?? 400
    private static let isLarge = readings >= 100_000
    private static let files = max(readings / 500, 6)
    private static let fileSizes = isLarge ? 1 << 20...50 << 20 : 100_000...400_000
    private static let reports = 48
    private static let reportSize = 1_000
    private static let modemLimit: Int64 = 5_000
    /// Each lasts ten minutes.
    private static let phases = 48
    private static let filePort: UInt16 = 8_081

    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor
    private let overWiFi: ScriptedServer
    private let overModem: ScriptedServer
    private let fileServers: [ScriptedServer]
    private let lab: LabFolder
    private let clock = LabClock()

    init() throws {
        let uplinks = try LabUplinks()
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
        let respond = ServerStep.forever([.readRequest, .response("done")])
        overWiFi = try Self.server(in: uplinks.wifi, 8_080, respond)
        overModem = try Self.server(in: uplinks.cellular, 8_080, respond)
        let discard = ServerStep.forever([.readHead, .discardBody, .response("done")])
        fileServers = try [uplinks.wifi, uplinks.cellular].map { try Self.server(in: $0, Self.filePort, discard) }
        lab = try LabFolder()
    }

    private static func server(in lab: LabNamespace, _ port: UInt16, _ step: ServerStep) throws -> ScriptedServer {
        try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: lab, port: port) { _ in [step] }
    }

    @Test func `every reading arrives under one key, and lanes that forbid it send nothing over the modem`()
        async throws
    {
        try await monitor.wait(for: .reachable, timeout: .seconds(60))
        let group = try uplinks.home.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        let packets = try PacketCount(of: "wwan0", in: uplinks.home, toPort: Self.filePort)
        let session = try session(group.any())
        let outbox = try await Outbox(at: "\(lab.path)/box", session, .init(minimumFreeSpace: 0), clock: clock.machine)
        try await drive(outbox)
        try await finish(outbox)
        let ended = try await outbox.statistics().ended
        #expect(ended == [.delivered: Self.readings + Self.reports + Self.files])
        #expect(try packets.next() == 0 && fileServers[1].connections.isEmpty)
        checkFiles()
        checkReports()
        checkReadings()
        await outbox.shutdown()
        try await checkCounter(packets, session)
        session.invalidate()
        try await group.shutdownGracefully()
    }

    private func session(_ loop: any EventLoop) throws -> HTTPSession {
        let limit = Duration.seconds(2)
        let configuration = HTTPConfiguration(
            timeouts: .init(connect: limit, firstByte: limit, read: limit, write: limit),
            proxy: .direct,
            gate: .waitsForConnectivity(nil),
            connectivity: monitor
        )
        return try HTTPSession(baseURL: nil, configuration, loop: loop, NameResolver())
    }

    // MARK: The drive

    private struct Lanes {
        let readings: OutboxLane
        let files: OutboxLane
        let reports: OutboxLane

        init(_ outbox: Outbox) {
            let server = "http://\(LabUplinks.server)"
            // A server that recognizes keys for long: the clock is faster than the timeouts.
            let lifetime = Duration.seconds(30 * 86_400)
            let batch = OutboxBatch.ndjson(items: 50, linger: .seconds(5))
            readings = outbox.lane(
                "readings",
                to: "\(server):8080",
                .init(batch: batch, keyLifetime: lifetime, confirmation: .any)
            )
            files = outbox.lane(
                "files",
                to: "\(server):\(DriveTests.filePort)/files",
                .init(path: .notExpensive, confirmation: .any)
            )
            reports = outbox.lane(
                "reports",
                to: "\(server):8080/reports",
                .init(keyLifetime: lifetime, confirmation: .any, bytesPerDay: DriveTests.modemLimit)
            )
        }
    }

    /// Adds items while the link changes.
    private func drive(_ outbox: Outbox) async throws {
        let lanes = Lanes(outbox)
        var generator = SeededGenerator(seed: 3)
        for phase in 1...Self.phases {
            if phase == 1 { try connect(wifi: false, modem: true) } else { try change(&generator) }
            try await add(lanes, phase, &generator)
            for _ in 0..<10 { try await pass(.seconds(60), outbox) }
            while phase == 1, requests(overModem, to: "/reports").isEmpty { try await pass(.zero, outbox) }
        }
    }

    /// Adds what is due in a phase.
    private func add(_ lanes: Lanes, _ phase: Int, _ generator: inout SeededGenerator) async throws {
        func due(_ count: Int) -> Range<Int> { count * (phase - 1) / Self.phases..<count * phase / Self.phases }
        let forever = ItemOptions(lifetime: nil)
        for number in due(Self.readings) {
            try await lanes.readings.post("readings", .text("{\"reading\":\(number)}"), options: forever)
        }
        for number in due(Self.files) {
            let size = Int.random(in: Self.fileSizes, using: &generator)
            let file = try lab.write("file", [UInt8](repeating: 7, count: size))
            try await lanes.files.put("\(number)", .file(file, .move), options: forever)
        }
        for number in due(Self.reports) {
            try await lanes.reports.post(
                "\(number)",
                .text(.init(repeating: "r", count: Self.reportSize)),
                options: forever
            )
        }
    }

    /// Ends the drive: both links are up until everything has ended.
    private func finish(_ outbox: Outbox) async throws {
        try connect(wifi: true, modem: true)
        while try await outbox.statistics().items > 0 { try await pass(.seconds(10), outbox) }
    }

    private func pass(_ duration: Duration, _ outbox: Outbox) async throws {
        clock.advance(by: duration)
        try await outbox.wake()
        try await Task.sleep(for: .milliseconds(Self.isLarge ? 200 : 10))
    }

    private func change(_ generator: inout SeededGenerator) throws {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: try connect(wifi: true, modem: true)
        case 1, 2: try connect(wifi: false, modem: true)
        default: try connect(wifi: false, modem: false)
        }
    }

    /// Sets the links up or down; their routes are removed with them.
    private func connect(wifi: Bool, modem: Bool) throws {
        let rtnl = uplinks.home.rtnl
        if wifi { try rtnl.setUp("wlan0") } else { try rtnl.setDown("wlan0") }
        if modem { try rtnl.setUp("wwan0") } else { try rtnl.setDown("wwan0") }
        if wifi { try? rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600) }
        if modem { try? rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700) }
    }

    // MARK: What the servers have received

    /// The requests of which at least the head was received.
    private func requests(_ server: ScriptedServer, to path: String) -> [ServerRecord.Request] {
        server.connections.flatMap(\.requests).filter {
            $0.head.split(separator: " ").dropFirst().first?.hasPrefix(path) == true
        }
    }

    private func checkFiles() {
        let received = requests(fileServers[0], to: "/files/").map { $0.head.split(separator: " ")[1] }
        #expect(Set(received).count == Self.files)
    }

    private func checkReports() {
        let count = requests(overModem, to: "/reports").count
        #expect(count > 0 && count * Self.reportSize <= Self.modemLimit)
    }

    /// Each reading is in one batch, and what is received again has the same key and bytes.
    private func checkReadings() {
        var bodies: [Substring: Set<[UInt8]>] = [:]
        for request in requests(overWiFi, to: "/readings") + requests(overModem, to: "/readings") {
            let key = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("idempotency-key:") }
            // The body of a request that was interrupted is not whole.
            if !request.body.isEmpty { bodies[key ?? "", default: []].insert(request.body) }
        }
        #expect(bodies[""] == nil && bodies.values.allSatisfy { $0.count == 1 })
        let lines = bodies.values.flatMap { $0 }.flatMap { $0.split(separator: UInt8(ascii: "\n")) }
        #expect(lines.count == Self.readings && Set(lines).count == Self.readings)
    }

    /// The counter detects a file that is sent over the modem.
    private func checkCounter(_ packets: PacketCount, _ session: HTTPSession) async throws {
        let options = RequestOptions(timeouts: .init(), requirement: .interface("wwan0"))
        _ = try await session.get("http://\(LabUplinks.server):\(Self.filePort)/", options: options).response()
        #expect(try packets.next() > 0)
    }
}
