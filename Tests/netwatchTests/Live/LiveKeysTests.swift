import CommandLineLab
import NetworkLab
import Testing

/// The keys that an operator presses in the live view.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LiveKeysTests {
    private let uplinks: Uplinks

    init() throws {
        uplinks = try Uplinks.quiet()
        try uplinks.connectWiFi()
    }

    private func screen(_ arguments: String...) throws -> TerminalScreen {
        let screen = try TerminalScreen(Uplinks.kinds + arguments, columns: 80, rows: 24, in: uplinks.lab)
        try screen.wait(for: "wlan0 (wifi) → 192.0.2.1")
        return screen
    }

    @Test func `a recording is made in the current folder, and replays`() throws {
        let screen = try screen()
        try screen.press("r")
        try screen.wait(for: "REC")
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try screen.wait(for: "not reachable")
        try screen.press("r")
        try screen.wait(for: "recorded")
        try screen.press("q")
        try screen.wait(for: "ended with 0")
        let name = try #require(screen.files.first { $0.hasSuffix(".pcap") })
        #expect(name.wholeMatch(of: /netwatch-\d{8}-\d{6}\.pcap/) != nil)
        let replay = try ToolProcess(["replay"] + Uplinks.kinds + ["\(screen.directory)/\(name)"], in: uplinks.lab)
        let lines = try replay.output.rest().split(separator: "\n")
        #expect(lines.first?.contains("wifi wlan0") == true, "\(lines)")
        #expect(lines.contains { $0.contains("notReachable no path") }, "\(lines)")
    }

    @Test func `a recording's failure is shown on the screen`() throws {
        let screen = try TerminalScreen([], columns: 80, rows: 24, in: uplinks.lab, shell: "cd /proc; ")
        try screen.wait(for: "LINKS")
        try screen.press("r")
        try screen.wait(for: "cannot create 'netwatch-")
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test(.disabled(if: LabSanitizer.isThread, "the sanitizer makes a larger file itself, when the tool starts"))
    func `a recording's size limit is shown on the screen`() throws {
        let screen = try TerminalScreen([], columns: 80, rows: 24, in: uplinks.lab, shell: "ulimit -f 32; ")
        try screen.wait(for: "LINKS")
        try screen.press("r")
        try screen.wait(for: "the recording's end") { rows in
            for mtu in [1400, 1500] as [UInt32] { try? uplinks.lab.rtnl.setMTU("wlan0", to: mtu) }
            return rows.contains { $0.contains("cannot record: cannot write netwatch-") }
        }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test func `the explanation and the keys are shown, and the wheel scrolls them`() throws {
        let screen = try screen()
        try screen.press("e")
        try screen.wait(for: "32766: from all lookup main")
        try screen.press("Escape")
        try screen.wait(for: "LINKS")
        try screen.press("?")
        let help = try screen.wait(for: "HELP")
        // X10's report of the wheel turned down over the tenth row, as tmux passes it on.
        try screen.send("\u{1B}[Ma!*")
        try screen.wait(for: "another part of the help") { $0 != help && $0.contains { $0.contains("HELP") } }
    }

    @Test func `a new size is drawn completely`() throws {
        let screen = try screen()
        let before = try screen.rows().count
        try screen.resize(columns: 60, rows: 15)
        try screen.wait(for: "the keys in the last of fifteen rows") { rows in
            rows.count < before && rows[14].contains("q quit") && rows[0].contains("wifi")
        }
        try screen.resize(columns: 10, rows: 2)
        try screen.wait(for: "what fits in ten columns") { $0.count <= 3 && $0[0].hasPrefix("● wifi") }
        try screen.resize(columns: 80, rows: 24)
        try screen.wait(for: "the keys") { $0.count >= 24 && $0[23].contains("q quit") }
    }

    @Test func `hosts are resolved by name, also in another namespace`() throws {
        let elsewhere = try LabNamespace()
        let arguments = ["--netns", uplinks.lab.path, "--to", "198.51.100.9", "--to", "no-such-name.invalid"]
        let screen = try TerminalScreen(arguments, columns: 100, rows: 30, in: elsewhere)
        try screen.wait(for: "the routes to both") { rows in
            rows.contains { $0.contains("198.51.100.9") && $0.contains("wlan0 → 192.0.2.1") }
                && rows.contains { $0.contains("no-such-name.invalid") && $0.contains("✗") }
        }
        // The counters are those of that namespace, too.
        try screen.wait(for: "rates") { rows in rows.contains { $0.contains("wlan0") && $0.contains("▁") } }
    }
}
