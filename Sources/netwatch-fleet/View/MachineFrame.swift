import CommandLineSupport
import FleetCore
import NetwatchCore
import ReachabilityCore

/// One machine on the whole screen: its path, its silence, its outages and its last events.
struct MachineFrame {
    private let status: NodeStatus?
    private let events: [RecentEvent]
    private let key: NodeKey
    private let utcOffset: Int

    /// The number of events that are shown at most.
    private static let maximumEvents = 100

    init(_ model: FleetModel, _ key: NodeKey, utcOffset: Int) {
        (self.key, self.utcOffset) = (key, utcOffset)
        status = model.status(of: key)
        events = model.recentEvents(of: key, limit: Self.maximumEvents)
    }

    /// Draws it.
    func frame(_ size: ScreenSize, at now: Timestamp) -> Frame {
        var lines = [StyledLine([.init(key.description.escapedForTerminal, .init(.heading, isBold: true))])]
        if let status {
            lines += facts(status).map { StyledLine([.init(Self.padded($0.0), .init(.dim)), .init($0.1)]) }
        }
        lines.append(.init([.init("LAST EVENTS", .init(.heading))]))
        let room = max(size.rows - lines.count - 1, 0)
        lines += events.prefix(room).map(line)
        lines = lines.prefix(max(size.rows - 1, 0)).map { Self.cut($0, size.columns) }
        while lines.count < size.rows - 1 { lines.append(.init()) }
        if size.rows > 0 {
            lines.append(Self.cut(.init([.init("any key", .init(.key)), .init(" back")]), size.columns))
        }
        return .init(lines: lines)
    }

    private func facts(_ status: NodeStatus) -> [(String, String)] {
        let labels = status.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let path = status.path.map { path in
            [path.interface, "(\(path.kind))", path.gateway.map { "via \($0)" }].compactMap(\.self).joined(
                separator: " "
            )
        }
        let facts: [(String, String?)] = [
            ("link", status.presence.rawValue + (status.isFlapping ? ", flapping" : "")),
            ("state", status.lastState.name + (status.since.map { " since \(clock($0))" } ?? "")),
            ("path", path), ("validation", status.validation?.verdict.words), ("why", status.silence.map(words)),
            ("reasons", status.reasons.joined(separator: " ")),
            (
                "outages",
                "\(status.outages) in 24 h" + (status.availability.map { ", available \(Self.percent($0))" } ?? "")
            ),
            ("events", "\(status.backlog) to come, \(status.lost) lost"),
            ("last seen", status.lastSeen.map(clock)), ("labels", labels.joined(separator: " ")),
        ]
        return facts.compactMap { name, text in
            guard let text, !text.isEmpty else { return nil }
            return (name, text.escapedForTerminal)
        }
    }

    private func words(_ silence: Silence) -> String {
        let end = silence.end.map { "until \(clock($0))" } ?? "not over"
        guard case .noPath(let reasons) = silence.cause, !reasons.isEmpty else {
            return "\(silence.cause.name), silent from \(clock(silence.start)), \(end)"
        }
        return "\(silence.cause.name) (\(reasons.joined(separator: " "))), silent from \(clock(silence.start)), \(end)"
    }

    private func line(_ event: RecentEvent) -> StyledLine {
        let role: Style.Role = event.status == .notReachable ? .bad : event.status == .unknown ? .unknown : .ok
        return .init([
            .init((event.time.map(clock) ?? "time unknown").padding(16), .init(.dim)),
            .init(event.status.name.padding(14), .init(role)),
            .init(event.reasons.joined(separator: " ").escapedForTerminal),
        ])
    }

    /// `11-23 02:00:00`, local.
    private func clock(_ time: Timestamp) -> String {
        let local = time.seconds + Int64(utcOffset)
        let day = CivilDay(daysSinceEpoch: local.flooredQuotient(86_400))
        let second = local - local.flooredQuotient(86_400) * 86_400
        let parts = [second / 3_600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
        return "\(Self.twoDigits(day.month))-\(Self.twoDigits(day.day)) \(parts)"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// `99.95 %`, of hundredths of a per cent.
    private static func percent(_ share: Int) -> String {
        "\(share / 100).\(share % 100 < 10 ? "0" : "")\(share % 100) %"
    }

    private static func padded(_ name: String) -> String { name.padding(11) }

    /// The line without what is wider than the screen.
    private static func cut(_ line: StyledLine, _ columns: Int) -> StyledLine {
        var (left, runs) = (columns, [StyledLine.Run]())
        for run in line.runs where left > 0 {
            var text = ""
            for character in run.text {
                let width = TextWidth.columns(String(character))
                guard width <= left else {
                    left = 0
                    break
                }
                text.append(character)
                left -= width
            }
            runs.append(.init(text, run.style))
        }
        return .init(runs)
    }
}

extension String {
    /// The text with spaces up to a width, and one at least.
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
