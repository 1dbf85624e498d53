import EventCore
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct EventMetricsTests {
    private var metrics = EventMetrics()

    private func moment(_ seconds: Int64) -> EventMetrics.Moment {
        .init(sinceBoot: seconds * 1_000_000_000, since1970: (1_000 + seconds) * 1_000_000_000)
    }

    private func change(_ status: ReachabilityStatus, _ reasons: [ReachabilityReason]) -> ReachabilityChange {
        var path = NetworkPath(status: status)
        if status == .wifi {
            let interface = NetworkInterface(index: 7, name: "wlan\"0", kind: .wifi, kindSource: .rule)
            path.ipv4 = .init(
                status: .wifi,
                interface: interface,
                carriers: [interface],
                gateway: .init("192.0.2.1"),
                source: .init(family: .ipv4, bits: 1 << 96),
                metric: 600,
                table: .main
            )
        }
        return .init(event: .change, status: status, previous: nil, path: path, reasons: reasons, sequence: 1)
    }

    @Test mutating func `states, outages, times and reasons are counted`() {
        metrics.record(change(.wifi, [.initial]), at: moment(10))
        metrics.record(change(.notReachable, [.routeRemoved, .noRoute]), at: moment(40))
        metrics.record(change(.wifi, [.routeAdded]), at: moment(45))
        let text = metrics.text(at: moment(46), subscribers: 3)
        for line in [
            #"netwatch_state{state="wifi"} 1"#, #"netwatch_state{state="notReachable"} 0"#,
            "netwatch_state_since_timestamp_seconds 1045.0", #"netwatch_state_seconds_total{state="wifi"} 31.0"#,
            #"netwatch_state_seconds_total{state="notReachable"} 5.0"#, "netwatch_outages_total 1",
            #"netwatch_changes_total{reason="route.removed"} 1"#, "netwatch_subscribers 3",
            #"netwatch_changes_total{reason="link.carrier.lost"} 0"#,
            #"netwatch_path_info{family="ipv4",interface="wlan\"0",kind="wifi"} 1"#,
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line) is not in \(text)")
        }
        #expect(!text.contains("192.0.2.1"))
    }

    @Test mutating func `each metric has its help and its type once, before its lines`() throws {
        metrics.record(change(.wifi, [.initial]), at: moment(10))
        var names: [Substring] = []
        for line in metrics.text(at: moment(11), subscribers: 0).split(separator: "\n") {
            if let help = line.wholeMatch(of: /# HELP (\w+) .+\./) { names.append(help.1) }
            if let type = line.wholeMatch(of: /# TYPE (\w+) (gauge|counter)/) {
                #expect(type.1 == names.last && (type.2 == "counter") == type.1.hasSuffix("_total"))
            }
            guard !line.hasPrefix("#") else { continue }
            let sample = try #require(line.wholeMatch(of: /(\w+)(\{.*\})? ([0-9.e+-]+)/), "\(line)")
            #expect(sample.1 == names.last)
        }
        #expect(names.count == Set(names).count && names.count == 7)
    }

    @Test(arguments: [
        (ValidationVerdict.validated, "validated"), (.portal(.init(loginURL: "http://a\"b")), "portal"),
        (.noInternet(.proxyLogin), "noInternet"), (.notChecked, "notChecked"),
    ])
    func `the verdict is one of four, with the age of its evidence`(verdict: ValidationVerdict, name: String) {
        var metrics = EventMetrics(validates: true)
        metrics.record(change(.wifi, [.initial]), at: moment(10))
        let since = Timestamp(seconds: 1_000, nanoseconds: 0)
        metrics.validation = .init(verdict: verdict, since: since, checkedAt: since)
        let text = metrics.text(at: moment(12), subscribers: 0)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("netwatch_validation{") }
        let names = ["validated", "portal", "noInternet", "notChecked"]
        #expect(lines == names.map { "netwatch_validation{verdict=\"\($0)\"} \($0 == name ? 1 : 0)" })
        #expect(text.contains("\nnetwatch_validation_age_seconds 12.0\n"))
        #expect(!text.contains("a\"b"))
    }

    @Test func `without a report about the path nothing is checked, and there is no age`() {
        var metrics = EventMetrics(validates: true)
        metrics.record(change(.wifi, [.initial]), at: moment(10))
        let text = metrics.text(at: moment(11), subscribers: 0)
        #expect(text.contains("netwatch_validation{verdict=\"notChecked\"} 1\n"))
        #expect(!text.contains("age_seconds"))
    }

    @Test mutating func `where paths are not validated, there is no metric about it`() {
        metrics.record(change(.wifi, [.initial]), at: moment(10))
        metrics.validation = .init(verdict: .validated, since: .init(seconds: 0, nanoseconds: 0))
        #expect(!metrics.text(at: moment(11), subscribers: 0).contains("validation"))
    }

    @Test mutating func `a change within a state begins none, and a clock that goes back counts nothing`() {
        metrics.record(change(.notReachable, [.noRoute]), at: moment(10))
        metrics.record(change(.notReachable, [.noRoute]), at: moment(5))
        let text = metrics.text(at: moment(6), subscribers: 0)
        #expect(text.contains("netwatch_outages_total 1\n") && text.contains("since_timestamp_seconds 1010.0\n"))
        #expect(text.contains(#"{state="notReachable"} 1.0"#))
    }
}
