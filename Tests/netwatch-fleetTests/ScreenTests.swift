import BrokerLab
import CommandLineLab
import FleetCore
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// The live table on terminals of three sizes.
@Suite(.blocksItsThread, .serialized, .timeLimit(.minutes(5)))
struct ScreenTests {
    private let lab: ViewerLab

    init() throws { lab = try ViewerLab() }

    private func screen(_ columns: Int, _ rows: Int, _ options: [String] = []) throws -> TerminalScreen {
        try TerminalScreen(["fleet", ViewerLab.broker] + options, columns: columns, rows: rows, in: lab.lab)
    }

    /// Publishes machines, of which the first is silent and the second has no network.
    private func publish(_ count: Int) throws {
        let nodes = (0..<count).map { ReportingNode("node-\($0)") }
        try lab.publish(try nodes.enumerated().flatMap { try $1.messages($0 == 1 ? "notReachable" : "wifi") })
        try lab.publish([nodes[0].link(.lost, at: ReportingNode.time(ago: 0))])
    }

    @Test(arguments: [(40, 12), (80, 24), (200, 60)], [3, 50])
    func `the worst machines are first, whatever the size`(size: (columns: Int, rows: Int), count: Int) throws {
        try publish(count)
        let screen = try screen(size.columns, size.rows)
        // Rows move until all machines are there.
        try screen.wait(for: "the table") { rows in
            guard rows[0].contains("2 of \(count)"), rows.contains(where: { $0.contains("quit") }),
                let first = rows.firstIndex(where: { $0.hasPrefix("node-") })
            else { return false }
            return rows[first].hasPrefix("node-0 ") && rows[first].contains("silent")
                && rows[first + 1].hasPrefix("node-1 ")
        }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test(arguments: [(40, 12), (80, 24), (200, 60)])
    func `5,000 machines are shown and scrolled`(columns: Int, rows: Int) throws {
        for start in stride(from: 0, to: 5_000, by: 500) {
            let nodes = (start..<start + 500).map { ReportingNode("node-\($0)", group: "site-\(start)") }
            try lab.publish(try nodes.flatMap { try $0.messages() })
        }
        let screen = try screen(columns, rows)
        try screen.wait(for: "all machines") { $0[0].contains("5000") || $0[0].contains("5,000") }
        let before = try screen.rows()
        try screen.press("End")
        try screen.wait(for: "other machines") { $0.dropFirst(4) != before.dropFirst(4) }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test func `return shows a machine with its events, and any key leads back`() throws {
        try publish(3)
        let screen = try screen(80, 24)
        // Rows move until all machines are there.
        try screen.wait(for: "the table") { rows in
            rows[0].contains("2 of 3") && rows.contains { $0.hasPrefix("node-2") }
        }
        try screen.press("Enter", "Down", "Enter")
        let rows = try screen.wait(for: "LAST EVENTS")
        #expect(rows[0] == "site-1/node-1")
        #expect(rows.contains { $0.contains("notReachable") && $0.contains("route.added") })
        try screen.press("x")
        try screen.wait(for: "node-2")
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test func `the mark stays on a machine when fewer meet the conditions`() throws {
        let nodes = (0..<3).map { ReportingNode("node-\($0)") }
        try lab.publish(try nodes.flatMap { try $0.messages() })
        let screen = try screen(80, 24, ["--where", "state=wifi"])
        try screen.wait(for: "the machines") { rows in
            (0..<3).allSatisfy { number in rows.contains { $0.hasPrefix("node-\(number)") } }
        }
        try screen.press("Enter", "Down", "Down")
        let time = ReportingNode.time(ago: 1)
        try lab.publish(try nodes[1...].map { try $0.state(2, "notReachable", time: time) })
        try screen.wait(for: "one machine") { rows in
            let machines = rows.filter { $0.hasPrefix("node-") }
            return machines.count == 1 && machines[0].hasPrefix("node-0")
        }
        try screen.press("Up", "Enter")
        let rows = try screen.wait(for: "LAST EVENTS")
        #expect(rows[0] == "site-1/node-0")
        try screen.press("q")
        try screen.wait(for: "node-0")
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test func `a slash takes conditions, and says what is wrong with them`() throws {
        try publish(3)
        let screen = try screen(80, 24)
        try screen.wait(for: "node-2")
        try screen.send("/foo=1")
        try screen.press("Enter")
        try screen.wait(for: "there is no field 'foo'")
        try screen.press("Escape")
        try screen.send("/state=wifi")
        try screen.press("Enter")
        try screen.wait(for: "the machines that match") { rows in
            let text = rows.joined(separator: "\n")
            return text.contains("node-2") && !text.contains("node-1")
        }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    /// The time that a process has spent on a processor, in clock ticks (proc_pid_stat(5)).
    private static func processorTime(of id: Int32) throws -> Int {
        let stat = String(decoding: try Repository.bytes(of: "/proc/\(id)/stat"), as: UTF8.self)
        let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
        let (user, system) = (try #require(Int(fields[11])), try #require(Int(fields[12])))
        return user + system
    }

    @Test func `a blocked terminal is waited for without using the processor`() throws {
        try publish(50)
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 200, rows: 60)
        let tool = try ToolProcess(
            ["fleet", ViewerLab.broker],
            in: lab.lab,
            stdout: .descriptor(terminal.program),
            environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"],
            session: .own(terminal: terminal.path)
        )
        _ = try terminal.read(until: "quit")
        // Each size is drawn again, until the terminal's buffer is full.
        var output = pollfd(fd: terminal.program, events: Int16(POLLOUT), revents: 0)
        var columns: UInt16 = 200
        while poll(&output, 1, 0) == 1 {
            columns = columns == 200 ? 199 : 200
            terminal.resize(columns: columns, rows: 60)
            Polling.pauseForProcess()
        }
        // By then the times on the screen would have been brought up to date.
        sleep(2)
        let before = try Self.processorTime(of: tool.id)
        sleep(2)
        let spent = try Self.processorTime(of: tool.id) - before
        #expect(spent < sysconf(Int32(_SC_CLK_TCK)), "\(spent) ticks in 2 s")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a broker that can't be reached is on the screen, and the table stays`() throws {
        try publish(3)
        let screen = try screen(80, 24)
        try screen.wait(for: "node-2")
        try lab.stopBroker()
        let rows = try screen.wait(for: "next attempt")
        #expect(rows.contains { $0.hasPrefix("node-2") })
        try lab.startBroker()
        try screen.wait(for: "the connection") { rows in !rows.contains { $0.contains("next attempt") } }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }
}
