import EventCore
import FleetCore
import FoundationEssentials
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing

@Suite struct FleetScreenTests {
    /// The sizes at which screens are kept.
    private static let sizes = [(40, 12), (80, 24), (200, 60)].map { ScreenSize(columns: $0.0, rows: $0.1) }

    @Test(arguments: sizes) func `three machines`(size: ScreenSize) throws {
        var story = FleetStory()
        story.online("pump-7", group: "site-3", .wifi)
        story.online("pump-8", group: "site-3", .cellular)
        story.online("gate", group: "default", .wifi)
        story.receive(.lost(), of: "gate", group: "default", at: 100)
        story.returnWithOutage("gate", group: "default", at: 400)
        story.receive(.lost(), of: "pump-8", group: "site-3", at: 500)
        story.wait(until: 600)
        try expectScreen(story, size, "three")
    }

    @Test(arguments: sizes) func `fifty machines, by groups, one that flaps and some that never reported`(
        size: ScreenSize
    ) throws {
        try expectScreen(Self.fifty(), size, "fifty")
    }

    @Test(arguments: sizes) func `five thousand machines, a site silent`(size: ScreenSize) throws {
        var story = FleetStory()
        for number in 0..<5_000 { story.online("node-\(number)", group: "site-\(number % 20)", .wifi) }
        for number in 0..<5_000 where number % 20 == 3 && number < 4_280 {
            story.receive(.lost(), of: "node-\(number)", group: "site-3", at: 1_000 + Double(number) / 100)
        }
        story.wait(until: 1_200)
        try expectScreen(story, size, "five-thousand")
    }

    @Test func `ASCII has no other characters`() throws {
        let size = ScreenSize(columns: 200, rows: 60)
        let story = try Self.fifty()
        let screen = FleetScreen(.init(broker: "brökér", isASCII: true))
        let frame = screen.frame(story.board, of: story.model, size, at: FleetStory.time(600))
        #expect(frame.lines.allSatisfy { $0.text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
    }

    @Test func `no line is wider than the screen, and no frame is higher, whatever the size`() throws {
        let story = try Self.fifty()
        var screen = FleetScreen(.init(broker: "mqtts://broker.example"))
        screen.notice = "the broker is not reachable"
        for columns in 0...130 {
            for rows in [0, 1, 2, 5, 6, 7, 10, 20, 60] {
                let frame = screen.frame(
                    story.board,
                    of: story.model,
                    .init(columns: columns, rows: rows),
                    at: FleetStory.time(600)
                )
                #expect(frame.lines.count <= rows)
                #expect(frame.lines.allSatisfy { TextWidth.columns($0.text) <= columns })
            }
        }
    }

    @Test func `keys scroll to the last machine, and not beyond`() throws {
        let (story, size) = (try Self.fifty(), ScreenSize(columns: 80, rows: 24))
        var screen = FleetScreen(.init(broker: "b"))
        func rows() -> [String] {
            screen.frame(story.board, of: story.model, size, at: FleetStory.time(600)).lines.map(\.text)
        }
        let first = rows()
        #expect(screen.press(.up, on: story.board, size) == .nothing)
        #expect(screen.press(.down, on: story.board, size) == .redraw)
        #expect(rows() != first)
        #expect(screen.press(.end, on: story.board, size) == .redraw)
        #expect(rows().last?.hasSuffix("–50 of 50") == true)
        #expect(screen.press(.pageDown, on: story.board, size) == .nothing)
        #expect(screen.press(.home, on: story.board, size) == .redraw && rows() == first)
        #expect(screen.press(.character("q"), on: story.board, size) == .quit)
    }

    @Test func `a machine whose clock is centuries behind is shown`() {
        var story = FleetStory()
        let time = Timestamp(seconds: -9_000_000_000, nanoseconds: 0)
        let event = EventReport(id: .init(run: 1, sequence: 1), time: time, status: .wifi)
        story.receive(.state(event), at: 0, isRetained: true)
        story.wait(until: 0)
        let screen = FleetScreen(.init(broker: "b"))
        let size = ScreenSize(columns: 200, rows: 24)
        let frame = screen.frame(story.board, of: story.model, size, at: FleetStory.time(0))
        #expect(frame.lines.contains { $0.text.contains("106751 d") }, "\(frame.lines.map(\.text))")
    }

    @Test func `the summary and the table of a pipe`() throws {
        let story = try Self.fifty()
        let summary = FleetText.summary(story.board.totals)
        #expect(summary == "6 of 50 not reachable: 1 silent, 2 without a network, 3 never reported, 1 flapping")
        let options = FleetScreen.Options(broker: "b")
        let time = FleetStory.time(600)
        let lines = FleetText.table(story.board, of: story.model, columns: 120, options: options, at: time)
        #expect(lines.first == summary && lines.suffix(50).allSatisfy { $0.contains("node-") })
        let empty = FleetText.table(.init(), of: .init(), columns: 120, options: options, at: time)
        #expect(empty == ["no machine has reported"])
    }

    /// 50 machines of two groups.
    private static func fifty() throws -> FleetStory {
        var story = FleetStory(grouping: .group)
        for number in 0..<47 { story.online("node-\(number)", group: number < 30 ? "site-3" : "site-4", .wifi) }
        story.model.expect(try .init(parsing: "site-4/node-47\nsite-4/node-48\nsite-4/node-49"))
        for number in 2...9 as ClosedRange<UInt64> {
            let state: ReachabilityStatus = number % 2 == 0 ? .notReachable : .wifi
            let event = EventReport(1, number, state, at: Double(number) * 60)
            story.receive(.event(event), of: "node-7", group: "site-3", at: Double(number) * 60)
            story.receive(.state(event), of: "node-7", group: "site-3", at: Double(number) * 60)
        }
        for name in ["node-40", "node-41"] {
            let event = EventReport(1, 2, .notReachable, at: 500, reasons: ["route.none"])
            story.receive(.state(event), of: name, group: "site-4", at: 500)
            story.receive(.event(event), of: name, group: "site-4", at: 500)
        }
        story.receive(.stopped(), of: "node-3", group: "site-3", at: 550)
        story.wait(until: 600)
        return story
    }
}

extension FleetStory {
    /// A machine is online, and its network in a state for a day.
    fileprivate mutating func online(_ name: String, group: String, _ state: ReachabilityStatus) {
        receive(.birth(), of: name, group: group, at: 0)
        receive(.state(.init(1, 1, state, at: -90_000)), of: name, group: group, at: 0)
        receive(.event(.init(1, 1, state, at: -90_000)), of: name, group: group, at: 0)
    }

    /// A silent machine returns, and had no path.
    fileprivate mutating func returnWithOutage(_ name: String, group: String, at seconds: Double) {
        receive(.birth(), of: name, group: group, at: seconds)
        receive(.state(.init(1, 3, .wifi, at: seconds - 5)), of: name, group: group, at: seconds)
        let outage = EventReport(1, 2, .notReachable, at: 60, reasons: ["link.carrier.lost", "route.none"])
        receive(.event(outage), of: name, group: group, at: seconds)
        receive(.event(.init(1, 3, .wifi, at: seconds - 5)), of: name, group: group, at: seconds)
    }
}

/// Compares a screen with a file in Snapshots/; a new file is written if `NETWATCH_UPDATE_SNAPSHOTS` is set.
private func expectScreen(
    _ story: FleetStory,
    _ size: ScreenSize,
    _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let screen = FleetScreen(.init(broker: "broker.example"))
    let frame = screen.frame(story.board, of: story.model, size, at: FleetStory.time(story.now))
    let lines = frame.lines.map { line in
        "|" + line.text + String(repeating: " ", count: max(size.columns - TextWidth.columns(line.text), 0)) + "|\n"
    }
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let file = folder.appending(path: "Snapshots/\(name)-\(size.columns)x\(size.rows).txt")
    let text = lines.joined()
    if ProcessInfo.processInfo.environment["NETWATCH_UPDATE_SNAPSHOTS"] != nil {
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    let comment = Comment(rawValue: "\(file.lastPathComponent) says:\n\(kept)\nThe screen shows:\n\(text)")
    #expect(text == kept, comment, sourceLocation: sourceLocation)
}
