import CommandLineSupport
import NetwatchCore
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct ChangeTextTests {
    private static let stamp = "2026-11-20T21:00:00.123456+01:00 "

    @Test(arguments: [
        (Samples.wifiChange, "wifi wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600 [route.added]"),
        (Samples.lost, "notReachable no path [link.down, route.flushed, path.noRoute]"),
        (
            Samples.first,
            "cellular wg0 (tunnel) over wwan0 (cellular), ipv4 10.0.0.2 metric 0, "
                + "ipv6 2001:db8::2 via fe80::1 dev wlan0 metric 1024 [monitor.initial, path.deadLeg]"
        ),
        (
            Samples.resync,
            "resync: wifi wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600 [resync.overrun]"
        ),
    ])
    func `a change is formatted as text`(change: ReachabilityChange, text: String) {
        #expect(change.textLine() == Self.stamp + text + "\n")
    }

    @Test func `several carriers are listed`() {
        var path = Samples.wifiPath
        path.carriers = [Samples.wlan, Samples.wwan]
        let text = "wlan0 (wifi) over wlan0 (wifi) and wwan0 (cellular), ipv4 192.0.2.2 via 192.0.2.1 metric 600"
        #expect(ChangeText.path(path) == text)
        path.carriers = []
        #expect(ChangeText.path(path) == "wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600")
    }

    @Test func `control characters in names are escaped`() {
        var change = Samples.wifiChange
        change.path.interface = .init(index: 4, name: "\u{1B}[2J\n\u{9B}x", kind: .other, kindSource: .plain)
        change.path.carriers = []
        let line = change.textLine()
        #expect(line.contains("\\u{1b}[2J\\u{a}\\u{9b}x (other)"))
        #expect(line.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(arguments: [
        ("plain ü 漢", "plain ü 漢"), ("\u{0}\u{7F}\u{85}", "\\u{0}\\u{7f}\\u{85}"),
        ("\u{1F}", "\\u{1f}"), ("\u{7F}", "\\u{7f}"), ("\u{9B}", "\\u{9b}"), ("", ""), (" ~", " ~"),
        ("a\u{202E}b\u{2066}\u{2028}", "a\\u{202e}b\\u{2066}\\u{2028}"),
    ])
    func `text is escaped`(text: String, escaped: String) {
        #expect(text.escapedForTerminal == escaped)
        let interface = NetworkInterface(index: 4, name: text, kind: .wired, kindSource: .plain)
        #expect(ChangeText.named(interface) == escaped + " (wired)")
    }
}
