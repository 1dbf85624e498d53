import CommandLineLab
import NetwatchCore
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct WiFiOutputTests {
    private static func details(
        _ interface: NetworkInterface = Samples.wlan,
        ssid: [UInt8]? = Array("home".utf8)
    ) -> WiFiDetails {
        var details = WiFiDetails(interface: interface)
        details.ssidBytes = ssid
        details.accessPoint = [2, 0, 0, 0, 1, 0xFF]
        details.frequency = 2_412
        details.signal = -54
        return details
    }

    private static func change(_ details: WiFiDetails...) -> ReachabilityChange {
        var change = Samples.wifiChange
        change.path.wifi = details
        return change
    }

    @Test func `a line has the network`() {
        let words = #", ssid "home" bssid 02:00:00:00:01:ff 2412 MHz -54 dBm [route.added]"#
        #expect(Self.change(Self.details()).textLine().hasSuffix("metric 600" + words + "\n"))
        let none = WiFiDetails(interface: Samples.wlan)
        #expect(Self.change(none).textLine() == Samples.wifiChange.textLine())
        let both = Self.change(Self.details(), Self.details(Samples.wwan)).textLine()
        #expect(both.contains(#", wlan0 ssid "home""#) && both.contains(#", wwan0 ssid "home""#))
    }

    @Test func `an object has the network of each interface with one`() throws {
        let line = Self.change(Self.details()).jsonLine(tellsKindSource: true)
        let path = try EventSchema.parse(line)["path"]
        for interface in [path?["interface"], path?["carriers"]?.elements?.first] {
            let wifi = interface?["wifi"]
            #expect(wifi?["ssid"] == .string("home"))
            #expect(wifi?["ssidHex"] == .string("686f6d65"))
            #expect(wifi?["bssid"] == .string("02:00:00:00:01:ff"))
        }
        #expect(line.contains(#""frequency":2412,"signal":-54}"#))
        #expect(!Samples.wifiChange.jsonLine(tellsKindSource: true).contains("wifi\":{"))
        let other = Self.change(Self.details(Samples.wwan)).jsonLine(tellsKindSource: true)
        #expect(!other.contains("ssid"))
    }

    @Test func `unknown values are null`() throws {
        let line = Self.change(.init(interface: Samples.wlan)).jsonLine(tellsKindSource: true)
        let wifi = try EventSchema.parse(line)["path"]?["interface"]?["wifi"]
        for member in ["ssid", "ssidHex", "bssid", "frequency", "signal"] { #expect(wifi?[member] == .null) }
    }

    @Test(
        arguments: [
            (Array(#"a"b\c"#.utf8), #"a\"b\\c"#), ([0x1B, 0x5B, 0x32, 0x4A], "\\u{1b}[2J"),
            ([0x61, 0xFF, 0x22, 0x5C, 0x0A, 0x00], #"a\xff\"\\\x0a\x00"#), (Array("\u{9B}2J".utf8), "\\u{9b}2J"),
            (Array("\u{202E}moc".utf8), "\\u{202e}moc"), (Array("ü€😀".utf8), "ü€😀"),
            ([0x22, 0xCC, 0x81], "\\\"\u{301}"), ([0x0A], "\\u{a}"), ([0xC0, 0x80], #"\xc0\x80"#),
        ] as [([UInt8], String)]
    )
    func `control characters in an SSID are escaped`(ssid: [UInt8], text: String) throws {
        let change = Self.change(Self.details(ssid: ssid))
        #expect(change.textLine().contains("ssid \"" + text + "\" bssid"))
        for line in [change.textLine(), change.jsonLine(tellsKindSource: true)] {
            #expect(line.dropLast().unicodeScalars.allSatisfy { !$0.isControl })
        }
        let wifi = try EventSchema.parse(change.jsonLine(tellsKindSource: true))["path"]?["interface"]?["wifi"]
        let expected = String(validating: ssid, as: UTF8.self)
        #expect(wifi?["ssid"] == expected.map { .string($0) } ?? .null)
        #expect(wifi?["ssidHex"]?.text?.count == 2 * ssid.count)
    }
}
