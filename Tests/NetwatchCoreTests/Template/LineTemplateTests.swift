import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct LineTemplateTests {
    private func line(_ template: String, _ values: [TemplateField: String] = [:]) throws -> String {
        try LineTemplate(template).line { values[$0] }
    }

    @Test(arguments: [
        ("{status}", "wifi"), ("{status} {interface}", "wifi -"), ("a{{b}}c", "a{b}c"), ("}", "}"),
        ("{{{status}}}", "{wifi}"),
        (#"x\ty\nz\\"#, "x\ty\nz\\"), ("{{status}", "{status}"), ("{ssid}", "caf\u{e9}\\u{1b}[2J"),
        ("é{status}", "éwifi"),
    ])
    func `fields are replaced by their values`(template: String, expected: String) throws {
        #expect(try line(template, [.status: "wifi", .ssid: "caf\u{e9}\u{1B}[2J"]) == expected)
    }

    @Test(arguments: [
        ("", 1, "it is empty; write fields in braces"),
        ("ab {statsu}", 4, "there is no field 'statsu'; the fields are time, utc, "),
        ("{", 1, "the brace is not closed; write '{{'"), ("é{}", 2, "there is no field ''"),
        (#"a\x"#, 2, #"'\x' is no escape"#),
        ("a\\", 2, "is no escape"), ("{Status}", 1, "no field 'Status'"), ("{a\u{1B}}", 1, #"no field 'a\u{1b}'"#),
    ])
    func `an invalid template is refused with the position`(template: String, position: Int, problem: String) {
        let error = #expect(throws: TemplateError.self) { try LineTemplate(template) }
        #expect(error?.position == position)
        #expect(error?.problem.contains(problem) == true, "\(error?.description ?? "")")
    }

    @Test func `every field of a change has a value`() throws {
        let wlan = NetworkInterface(index: 4, name: "wlan0", kind: .wifi, kindSource: .nl80211)
        let family = FamilyPath(
            status: .wifi,
            interface: wlan,
            carriers: [wlan],
            gateway: IPAddress("192.0.2.1"),
            source: IPAddress(ipv4: 0xC000_0202),
            metric: 600,
            table: .main
        )
        var path = NetworkPath(
            status: .wifi,
            interface: wlan,
            carriers: [wlan, wlan],
            ipv4: family,
            reasons: [.deadNextHop]
        )
        var details = WiFiDetails(interface: wlan)
        details.ssidBytes = Array("office".utf8)
        details.accessPoint = [2, 0, 0, 0, 1, 0]
        details.signal = -54
        path.wifi = [details]
        let change = ReachabilityChange(
            event: .change,
            status: .wifi,
            previous: .notReachable,
            path: path,
            reasons: [.routeAdded, .deadNextHop],
            sequence: 3
        )
        let template = TemplateField.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
        let text = """
            - - wifi notReachable change route.added,path.deadLeg wlan0 wifi wlan0,wlan0 192.0.2.2 - 192.0.2.1 \
            192.0.2.2 600 3 false false office 02:00:00:00:01:00 -54 - -
            """
        #expect(try LineTemplate(template).line { $0.value(in: change) } == text)
        let first = ReachabilityChange(
            event: .state,
            status: .notReachable,
            previous: nil,
            path: .init(status: .notReachable),
            reasons: [],
            sequence: 1
        )
        let nothing = "- - notReachable - state - - - - - - - - - 1 false false - - - - -"
        #expect(try LineTemplate(template).line { $0.value(in: first) } == nothing)
    }
}
