import NetwatchCore
import ReachabilityCore
import Testing

/// What the live view shows of the time before it was opened.
@Suite struct EarlierChangesTests {
    /// On Wi-Fi since an hour and a half, with an outage of five minutes that ended half an hour ago.
    private static func past(_ story: Story, interface name: String = "wlan0") -> EarlierChanges {
        let interface = NetworkInterface(index: 3, name: name, kind: .wifi, kindSource: .devtype)
        let states: [(minutes: Int64, ReachabilityStatus)] = [(90, .wifi), (35, .notReachable), (30, .wifi)]
        var entries: [EarlierChanges.Entry] = []
        var timeline: StateTimeline?
        for (number, (minutes, status)) in states.enumerated() {
            let nanoseconds = story.moment.time.nanosecondsSinceEpoch - minutes * 60_000_000_000
            let route = FamilyPath(
                status: .wifi,
                interface: interface,
                carriers: [interface],
                gateway: .of("192.0.2.1"),
                source: .of("192.0.2.2"),
                metric: 600,
                table: .main,
                isExpensive: false,
                isConstrained: false
            )
            let ipv6 = FamilyPath(
                status: .wifi,
                interface: interface,
                carriers: [interface],
                gateway: .of("fe80::1"),
                source: .of("2001:db8::2"),
                metric: 1024,
                table: .main,
                isExpensive: false,
                isConstrained: false
            )
            let path =
                status == .wifi
                ? NetworkPath(
                    status: status,
                    interface: interface,
                    carriers: [interface],
                    ipv4: route,
                    ipv6: ipv6,
                    reasons: [],
                    isExpensive: false,
                    isConstrained: false
                ) : NetworkPath(status: status, reasons: [.carrierLost])
            let change = ReachabilityChange(
                event: number == 0 ? .state : .change,
                status: status,
                previous: nil,
                path: path,
                reasons: [number == 0 ? .initial : .carrierLost],
                sequence: UInt64(number + 1)
            )
            entries.append(.init(change, time: .init(nanosecondsSinceEpoch: nanoseconds), utcOffset: 3600))
            let instant = Instant(nanoseconds: nanoseconds)
            if timeline == nil { timeline = .init(status, at: instant) } else { timeline?.note(status, at: instant) }
        }
        return .init(entries, timeline: timeline ?? .init(.unknown, at: .init(nanoseconds: 0)))
    }

    private let size = ScreenSize(columns: 100, rows: 30)

    /// A story whose view has its first state.
    private func opened() -> Story {
        var story = Story()
        story.addWiFi()
        story.route(.ipv6, via: "fe80::1", on: 3, 1024)
        story.wait(.milliseconds(40))
        story.publish(.initial, latency: nil)
        return story
    }

    private func lines(_ story: inout Story) -> [String] {
        story.input(.resize(size))
        return story.draw().lines.map(\.text)
    }

    @Test func `the header, the timeline and the log include what happened before`() throws {
        var story = opened()
        story.input(.earlier(Self.past(story)))
        let lines = lines(&story)
        #expect(lines[0].contains("● wifi  since 13:30:00, 30 min"), "\(lines[0])")
        #expect(lines.contains { $0.hasPrefix("LAST HOUR  91.66 % available · 1 outage, 5 min") }, "\(lines)")
        #expect(lines.contains { $0.contains("ALL 1 h  94.44 % available · 1 outage, 5 min") }, "\(lines)")
        let log = try #require(lines.firstIndex { $0.hasPrefix("LOG") })
        #expect(lines[log].contains("4 events"))
        let times = lines[(log + 1)...].compactMap { $0.contains(":") ? $0.split(separator: " ").first : nil }
        #expect(times.prefix(4) == ["14:00:00.163", "13:30:00.163", "13:25:00.163", "12:30:00.163"], "\(lines)")
    }

    @Test func `it is the same whether the first state or the earlier changes arrive first`() {
        var (one, other) = (opened(), Story())
        one.input(.earlier(Self.past(one)))
        other.addWiFi()
        other.route(.ipv6, via: "fe80::1", on: 3, 1024)
        other.wait(.milliseconds(40))
        other.input(.earlier(Self.past(other)))
        other.publish(.initial, latency: nil)
        #expect(lines(&one) == lines(&other))
    }

    @Test func `what the view has received itself is not repeated`() {
        var story = opened()
        let before = story.moment
        story.wait(.seconds(1))
        story.removeRoute(.ipv6, via: "fe80::1", on: 3, 1024)
        story.publish(.routeRemoved)
        // The service has recorded the same two changes, a little later than the view.
        let past = Self.past(story)
        let twice = [before, story.moment].map { moment in
            let time = Timestamp(nanosecondsSinceEpoch: moment.time.nanosecondsSinceEpoch + 5_000_000)
            return EarlierChanges.Entry(past.entries[2].change, time: time, utcOffset: 3600)
        }
        story.input(.earlier(.init(past.entries + twice, timeline: past.timeline)))
        let lines = lines(&story)
        #expect(lines.contains { $0.hasPrefix("LOG  5 events") }, "\(lines)")
    }

    @Test func `the changes of another network are not shown`() {
        var story = opened()
        let before = lines(&story)
        story.input(.earlier(Self.past(story, interface: "eth7")))
        #expect(lines(&story) == before)
    }

    @Test func `a filter and a selection stay in effect`() {
        var story = opened()
        story.press(.character("/"))
        story.type("lost")
        story.press(.enter)
        story.input(.earlier(Self.past(story)))
        let filtered = lines(&story)
        #expect(filtered.contains { $0.contains("13:25:00.163") } && !filtered.contains { $0.contains("12:30:00") })
        story.press(.character("/"), .escape, .down)
        story.press(.enter)
        #expect(lines(&story).contains { $0.contains("2026-11-20 14:00:00.163") })
    }
}
