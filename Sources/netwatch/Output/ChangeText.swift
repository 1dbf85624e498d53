import NetwatchCore
import ReachabilityCore

/// Writes notices as lines for people.
enum ChangeText {
    /// Appends one notice as a line, with the line feed.
    ///
    /// `2026-11-20T21:00:00.123456+01:00 wifi eth0 (wired), ipv4 192.0.2.2 via 192.0.2.1 metric 100 [route.added]`
    ///
    /// - Parameters:
    ///   - change: The notice.
    ///   - time: When it came.
    ///   - clock: How that is written.
    ///   - line: What to append to.
    static func append(
        _ change: StateChange,
        at time: Timestamp,
        by clock: inout TimestampText,
        to line: inout LineBuffer
    ) {
        clock.write(time, to: &line)
        line.append(UInt8(ascii: " "))
        if change.event != .state, change.event != .change {
            line.append(text: change.event.rawValue)
            line.append(": ")
        }
        line.append(text: change.status.name)
        line.append(UInt8(ascii: " "))
        append(change.path, to: &line)
        appendReasons(of: change, to: &line)
        line.append(UInt8(ascii: "\n"))
    }

    /// A path in a few words: `wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600`.
    static func path(_ path: NetworkPath) -> String {
        var line = LineBuffer()
        append(path, to: &line)
        return line.text
    }

    /// An interface with its kind: `wlan0 (wifi)`.
    static func named(_ interface: NetworkInterface) -> String {
        var line = LineBuffer()
        append(interface, to: &line)
        return line.text
    }

    private static func append(_ path: NetworkPath, to line: inout LineBuffer) {
        guard let interface = path.interface else { return line.append("no path") }
        append(interface, to: &line)
        if !path.isCarriedByItself { append(path.carriers, to: &line) }
        if let ipv4 = path.ipv4 {
            line.append(", ipv4 ")
            append(ipv4, beside: interface, to: &line)
        }
        if let ipv6 = path.ipv6 {
            line.append(", ipv6 ")
            append(ipv6, beside: interface, to: &line)
        }
        for details in path.wifi {
            line.append(text: WiFiText.words(details, isOneOfSeveral: path.wifi.count > 1))
        }
    }

    private static func append(_ interface: NetworkInterface, to line: inout LineBuffer) {
        line.append(escapedForTerminal: interface.name)
        line.append(" (")
        line.append(text: interface.kind.rawValue)
        line.append(UInt8(ascii: ")"))
    }

    private static func append(_ carriers: [NetworkInterface], to line: inout LineBuffer) {
        for position in carriers.indices {
            line.append(position == 0 ? " over " : " and ")
            append(carriers[position], to: &line)
        }
    }

    /// One family's path; its interface is named only where it is another than the path's.
    private static func append(
        _ path: FamilyPath,
        beside interface: NetworkInterface,
        to line: inout LineBuffer
    ) {
        line.append(path.source)
        if let gateway = path.gateway {
            line.append(" via ")
            line.append(gateway)
        }
        if path.interface.index != interface.index {
            line.append(" dev ")
            line.append(escapedForTerminal: path.interface.name)
        }
        line.append(" metric ")
        line.append(UInt64(path.metric))
    }

    private static func appendReasons(of change: StateChange, to line: inout LineBuffer) {
        var count = 0
        change.forEachReason { reason in
            line.append(count == 0 ? " [" : ", ")
            line.append(text: reason.rawValue)
            count += 1
        }
        if count > 0 { line.append(UInt8(ascii: "]")) }
    }
}
