import ReachabilityCore
import Testing

struct CaptureReplayTests {
    @Test(arguments: ["story-nanoseconds.pcap", "story-microseconds.pcap", "story.pcapng"])
    func `a story replays the same from each format`(name: String) {
        let bytes = Fixture.bytes(name)
        let telling = Telling(bytes)
        #expect(telling.fault == nil)
        #expect(telling.lines == Self.story)
        // Each change has the time of the record that caused it, or right after a dump a little later.
        let times = CaptureReading(bytes).records.map(\.time)
        #expect(
            telling.changes.allSatisfy { change in
                times.contains { ($0...$0 + 10_100_000).contains(change.time) }
            }
        )
        #expect(telling.changes.map(\.change.sequence) == Array(1...7))
    }

    /// The story of `make-captures.py` with one interface, which stands for the machine's Wi-Fi.
    private static let story = [
        "state notReachable - -: monitor.initial",
        "change wifi 192.0.2.1 -: route.added",
        "change wifi 192.0.2.3 -: route.replaced",
        "change wifi 192.0.2.3 fe80::1: route.added",
        "change notReachable - -: link.carrier.lost",
        "change wifi 192.0.2.3 fe80::1: link.carrier.gained",
        "change notReachable - -: link.down route.flushed route.removed",
    ]

    /// ip(8) requests parts of tables; each of its replies, and the messages of `ip monitor`, add to the model.
    @Test func `a capture of other programs can be replayed`() {
        let telling = Telling(Fixture.bytes("iproute2.pcap"))
        #expect(telling.fault == nil)
        #expect(telling.lines == Self.commands)
    }

    private static let commands = [
        "state notReachable - -: monitor.initial",
        "change wifi 192.0.2.1 -: route.added",
        "change notReachable - -: link.carrier.lost",
        "change wifi 192.0.2.1 -: link.carrier.gained",
        "change notReachable - -: route.removed",
    ]

    /// An nlmon interface sees a notification once for each socket that it is delivered to.
    @Test func `a notification seen twice counts once`() throws {
        let bytes = Fixture.bytes("story.pcapng")
        let records = CaptureReading(bytes).records
        let firstChange = try #require(Telling(bytes).changes.dropFirst().first?.time)
        var doubled = CaptureWriter().header
        for record in records {
            let copy = CaptureWriter().record(at: record.time, bytes[record.payload])
            doubled += record.time < firstChange ? copy : copy + copy
        }
        #expect(Telling(doubled).lines == Self.story)
    }

    @Test func `notifications without dumps build a model`() throws {
        let bytes = Fixture.bytes("iproute2.pcap")
        let records = CaptureReading(bytes).records
        let last = try records.lastIndex { try $0.events(in: bytes).contains(.done(errno: 0)) }
        var monitored = CaptureWriter().header
        for record in records.dropFirst((last ?? 0) + 1) {
            monitored += CaptureWriter().record(at: record.time, bytes[record.payload])
        }
        let telling = Telling(monitored)
        #expect(telling.fault == nil)
        // The addresses existed before, so no message announces them.
        #expect(telling.changes.allSatisfy { $0.change.status == .notReachable })
        #expect(telling.changes.count > 1)
    }

    /// Right after a dump another one is expected; at the end of the capture none is.
    @Test func `messages right after a dump are evaluated at the end`() throws {
        let bytes = Fixture.bytes("story-nanoseconds.pcap")
        let change = try #require(Telling(bytes).changes.dropFirst().first?.time)
        var hurried = CaptureWriter().header
        for record in CaptureReading(bytes).records where record.time <= change {
            let (type, family) = (record.packetType, record.netlinkProtocol)
            hurried += CaptureWriter().record(at: 1, bytes[record.payload], protocol: family, type: type)
        }
        #expect(Telling(hurried).lines.last?.contains("wifi 192.0.2.1") == true)
    }

    @Test func `a capture of the other byte order is evaluated at its end`() {
        let telling = Telling(Fixture.bytes("big-endian.pcap"))
        #expect(telling.fault == nil)
        #expect(telling.lines == ["state notReachable - -: monitor.initial"])
    }

    @Test func `changes before an error are reported`() {
        let bytes = Fixture.bytes("story-nanoseconds.pcap")
        let telling = Telling(Array(bytes.dropLast(1)))
        #expect(telling.lines == Self.story)
        #expect(telling.fault?.description.hasSuffix("are left") == true)
        #expect(telling.fault?.description.hasPrefix("record ") == true)
    }

    @Test func `an incomplete or missing table is not evaluated`() {
        #expect(Telling(CaptureWriter().header).changes.isEmpty)
        let story = Fixture.bytes("story-nanoseconds.pcap")
        let telling = Telling(Array(story.prefix(2_000)))
        #expect(telling.changes.isEmpty)
        #expect(telling.fault != nil)
    }

    @Test func `an invalid message is reported with its offset in the file`() {
        let writer = CaptureWriter()
        let bytes = writer.header + writer.record(at: 1, NetlinkEncoder().encode(.done(errno: 0)) + [1, 2, 3])
        let fault = Telling(bytes).fault
        #expect(fault?.description == "record 1 at byte 76: message: its header needs 16 bytes, 3 are left")
    }

    @Test func `a truncated message is reported`() {
        let writer = CaptureWriter()
        var bytes = writer.header + writer.record(at: 1, NetlinkEncoder().encode(.done(errno: 0)))
        bytes[24 + 12] += 4
        let fault = Telling(bytes).fault
        #expect(fault?.description.contains("record 1 at byte 24: only 20 of 24 bytes were captured") == true)
    }

    @Test func `times that are too late to be calculated with count as the latest one`() {
        var bytes = Fixture.bytes("story.pcapng")
        let original = bytes
        let field = { (place: Int) in original[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) } }
        var block = 0
        while block < bytes.count {
            let length = field(block + 4)
            // The timestamp of an enhanced packet block.
            if field(block) == 6 { for place in block + 12..<block + 20 { bytes[place] = 0xFF } }
            block += length
        }
        let telling = Telling(bytes, settle: .milliseconds(700))
        #expect(telling.fault == nil)
        #expect(telling.lines.first == Self.story.first)
    }

    @Test func `the settle time follows the capture's timestamps`() {
        let telling = Telling(Fixture.bytes("story.pcapng"), settle: .milliseconds(700))
        // No state of the story lasts that long before its end, except the one that the last record causes.
        #expect(telling.lines.first == Self.story.first)
        #expect(telling.changes.count < Self.story.count)
        #expect(zip(telling.changes, telling.changes.dropFirst()).allSatisfy { $0.time <= $1.time })
    }
}

/// A replay from beginning to end.
private struct Telling {
    var changes: [ReplayedChange] = []
    var fault: ReplayError?

    init(_ bytes: [UInt8], settle: Duration = .zero) {
        var replay = CaptureReplay(context: .init(user: 0), settle: settle)
        do throws(ReplayError) {
            while let changes = try replay.next(bytes.span.bytes) { self.changes += changes }
        } catch {
            fault = error
        }
        changes += replay.finish()
    }

    /// Each change as event, status, gateways and reasons.
    var lines: [String] {
        changes.map(\.change).map { change in
            let gateways = [change.path.ipv4, change.path.ipv6].map { $0?.gateway?.description ?? "-" }
            let reasons = change.reasons.map(\.rawValue).joined(separator: " ")
            return "\(change.event) \(change.status.name) \(gateways[0]) \(gateways[1]): \(reasons)"
        }
    }
}
