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
        let shown = try screen.wait(for: "the sentence, and rates") { rows in
            let text = rows.joined(separator: "\n")
            return text.contains("wwan0 has no carrier") && (columns < 80 || text.contains("IN/s"))
        }
        try expect(MaskedScreen.text(shown), "story-\(columns)x\(rows)")
    }

    /// Compares a screen with a file in Snapshots/, which is written if `NETWATCH_UPDATE_SNAPSHOTS` is set.
    private func expect(_ text: String, _ name: String) throws {
        let file = "Tests/netwatchTests/Live/Snapshots/\(name).txt"
        if getenv("NETWATCH_UPDATE_SNAPSHOTS") != nil { try Repository.write(text, to: file) }
        let kept = try Repository.read(file)
        #expect(text == kept, "\(name) says:\n\(kept)\nThe screen shows:\n\(text)")
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
