import CommandLineLab
import CommandLineSupport
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct ChangeJSONTests {
    private func line(_ change: ReachabilityChange, tellsKindSource: Bool = false) -> String {
        change.jsonLine(tellsKindSource: tellsKindSource)
    }

    @Test func `a change is formatted as JSON`() throws {
        let expected = #"""
            {"v":1,"seq":3,"time":"2026-11-20T20:00:00.123456Z","event":"change","status":"wifi",\#
            "previous":"notReachable","path":{"interface":{"index":4,"name":"wlan0","kind":"wifi"},\#
            "carriers":[{"index":4,"name":"wlan0","kind":"wifi"}],\#
            "ipv4":{"interface":"wlan0","kind":"wifi","carriers":[{"index":4,"name":"wlan0","kind":"wifi"}],\#
            "gateway":"192.0.2.1","source":"192.0.2.2","metric":600},"ipv6":null,\#
            "expensive":false,"constrained":false},\#
            "reasons":["route.added"]}

            """#
        #expect(line(Samples.wifiChange) == expected)
    }

    @Test func `a change without a path is formatted`() {
        let expected = #"""
            {"v":1,"seq":4,"time":"2026-11-20T20:00:00.123456Z","event":"change","status":"notReachable",\#
            "previous":"wifi","path":{"interface":null,"carriers":[],"ipv4":null,"ipv6":null,\#
            "expensive":false,"constrained":false},\#
            "reasons":["link.down","route.flushed","path.noRoute"]}

            """#
        #expect(line(Samples.lost) == expected)
    }

    @Test func `the sources of kinds are included for status`() throws {
        let value = try EventSchema.parse(line(Samples.first, tellsKindSource: true))
        #expect(value["path"]?["interface"]?["by"] == .string("infoKind"))
        #expect(value["path"]?["carriers"]?.elements?.first?["by"] == .string("rule"))
        #expect(value["path"]?["ipv4"]?["gateway"] == .null)
        #expect(value["path"]?["ipv6"]?["interface"] == .string("wlan0"))
        #expect(value["previous"] == .null)
        #expect(value["reasons"] == .array([.string("monitor.initial"), .string("path.deadLeg")]))
    }

    @Test func `each family has its own interface, kind and carriers`() throws {
        var change = Samples.first
        let modem = NetworkInterface(index: 9, name: "wwan0", kind: .cellular, kindSource: .devtype)
        change.path.ipv4?.interface = modem
        change.path.ipv4?.carriers = [modem]
        let path = try EventSchema.parse(line(change, tellsKindSource: true))["path"]
        #expect(path?["ipv4"]?["kind"] == .string("cellular"))
        #expect(path?["ipv4"]?["carriers"]?.elements?.map { $0["name"] } == [.string("wwan0")])
        #expect(path?["ipv4"]?["carriers"]?.elements?.first?["by"] == .string("devtype"))
        #expect(path?["ipv6"]?["carriers"]?.elements?.map { $0["name"] } == [.string("wlan0")])
    }

    @Test(arguments: [Samples.first, Samples.wifiChange, Samples.lost, Samples.resync, .unread])
    func `every line is valid by the schema`(change: ReachabilityChange) throws {
        for tellsKindSource in [false, true] {
            let text = line(change, tellsKindSource: tellsKindSource)
            #expect(text.hasSuffix("}\n") && !text.dropLast().contains("\n"))
            _ = try EventSchema.parse(text)
        }
    }

    @Test func `every event, status, kind and reason is valid by the schema`() throws {
        for event in ReachabilityChange.Event.allCases {
            for status in ReachabilityStatus.allCases {
                var change = Samples.first
                change.event = event
                change.status = status
                change.previous = status
                change.reasons = ReachabilityReason.allCases
                _ = try EventSchema.parse(line(change))
            }
        }
        for kind in InterfaceKind.allCases {
            for source in KindSource.allCases {
                var change = Samples.first
                change.path.interface = .init(index: 1, name: "a\"\u{1}\\", kind: kind, kindSource: source)
                _ = try EventSchema.parse(line(change, tellsKindSource: true))
            }
        }
    }

    @Test func `any number of carriers is formatted, including none`() throws {
        var change = Samples.first
        let (wlan, wwan, tunnel) = (Samples.wlan, Samples.wwan, Samples.tunnel)
        for carriers in [[wlan, wwan], [], [wwan], [tunnel], [tunnel, wwan]] {
            change.path.carriers = carriers
            let path = try EventSchema.parse(line(change))["path"]
            let names = try #require(path?["carriers"]?.elements).compactMap { $0["name"]?.text }
            #expect(names == carriers.map(\.name))
            #expect(path?["interface"]?["name"] == .string("wg0"))
        }
    }

    @Test(arguments: ["q\"\\", "\u{0}\u{1F}\u{7F}", "\n\r\t", "ü€😀", "", "fifteen-bytes-0"])
    func `a name is decoded as it was encoded, in any member`(name: String) throws {
        var change = Samples.wifiChange
        let interface = NetworkInterface(index: 4, name: name, kind: .wifi, kindSource: .devtype)
        change.path.interface = interface
        change.path.carriers = [interface]
        change.path.ipv4?.interface = interface
        let path = try EventSchema.parse(line(change))["path"]
        #expect(path?["interface"]?["name"] == .string(name))
        #expect(path?["carriers"]?.elements?.first?["name"] == .string(name))
        #expect(path?["ipv4"]?["interface"] == .string(name))
    }

    @Test(
        arguments: [
            (.milliseconds(28_800_007), "28800.007"), (.microseconds(999), "0.000"), (.seconds(-1), "0.000"),
        ] as [(Duration, String)]
    )
    func `the length of a suspension is formatted`(length: Duration, text: String) throws {
        var change = Samples.wifiChange
        (change.event, change.suspended) = (.suspend, length)
        let line = line(change)
        _ = try EventSchema.parse(line)
        #expect(line.hasSuffix(#"],"suspended":\#(text)}"# + "\n"))
    }

    @Test func `the largest numbers are formatted`() throws {
        var change = Samples.wifiChange
        change.sequence = .max
        change.path.interface?.index = .max
        change.path.ipv4?.metric = .max
        let text = line(change)
        #expect(text.hasPrefix(#"{"v":1,"seq":18446744073709551615,"#))
        #expect(text.contains(#""index":2147483647,"#))
        #expect(text.contains(#""metric":4294967295}"#))
    }
}
