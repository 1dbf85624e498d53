import CommandLineLab
import Glibc
import NetworkLab
import Testing

/// The live view in a terminal during a story of kernel events.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LiveScreenTests {
    @Test(arguments: [(40, 12), (80, 24), (200, 60)])
    func `the screens of a story match the snapshots`(columns: Int, rows: Int) throws {
        let uplinks = try Uplinks.quiet()
        let hosts = ["--to", "192.0.2.77", "--to", "203.0.113.9"]
        let screen = try TerminalScreen(Uplinks.kinds + hosts, columns: columns, rows: rows, in: uplinks.lab)
        try screen.wait(for: "not reachable")
        try uplinks.connectWiFi()
        try screen.wait(for: "wlan0 (wifi) → 192.0.2.1")
        try uplinks.connectCellular()
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try screen.wait(for: "wwan0 (cellular) → 198.51.100.1")
        try uplinks.lab.rtnl.setDown("tower0")
        // The rates follow from two samples, a second apart.
        try screen.wait(for: "the sentence, and rates") { rows in
            let text = rows.joined(separator: "\n")
            return text.contains("wwan0 has no carrier") && (columns < 80 || text.contains("IN/s"))
        }
        try expect(screen, "story-\(columns)x\(rows)")
    }

    /// Compares a screen with a file in Snapshots/, which is written if `NETWATCH_UPDATE_SNAPSHOTS` is set.
    ///
    /// The rows are written one after the other, and those about hosts change a moment later.
    private func expect(_ screen: TerminalScreen, _ name: String) throws {
        let file = "Tests/netwatchTests/Live/Snapshots/\(name).txt"
        var shown = ""
        if getenv("NETWATCH_UPDATE_SNAPSHOTS") != nil {
            try screen.wait(for: "the same screen twice") { rows in
                defer { shown = MaskedScreen.text(rows) }
                return shown == MaskedScreen.text(rows)
            }
            try Repository.write(shown, to: file)
        }
        let kept = try Repository.read(file)
        do {
            try screen.wait(for: name) { rows in
                shown = MaskedScreen.text(rows)
                return shown == kept
            }
        } catch let error as LabError where error.errno == ETIMEDOUT {
            // The expectation says what differs.
        }
        #expect(shown == kept, "\(name) says:\n\(kept)\nThe screen shows:\n\(shown)")
    }
}

extension Uplinks {
    /// Uplinks without traffic of their own: without IPv6, whose addresses are random and solicit routers.
    static func quiet() throws -> Self {
        let uplinks = try Uplinks()
        for name in ["wlan0", "ap0", "wwan0", "tower0"] {
            try uplinks.lab.setSysctl("net.ipv6.conf.\(name).disable_ipv6", to: 1)
        }
        return uplinks
    }
}
