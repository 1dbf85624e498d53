package import NetwatchCore
package import ReachabilityCore

/// Writes changes as lines for people.
package enum ChangeText {
    /// Appends one change as a line, with the line feed.
    ///
    /// `2026-11-20T21:00:00.123456+01:00 wifi eth0 (wired), ipv4 192.0.2.2 via 192.0.2.1 metric 100 [route.added]`
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - time: When it came.
    ///   - clock: How that is written.
    ///   - line: What to append to.
    package static func append(
        _ change: ReachabilityChange,
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

    /// Appends a verdict on the path as a line, with the line feed.
    ///
    /// `2026-11-20T21:00:00.123456+01:00 validation: wifi, but a portal asks for a login at https://hotel.example/`
    package static func append(
        _ validation: ValidationSummary,
        of status: ReachabilityStatus,
        at time: Timestamp,
        by clock: inout TimestampText,
        to line: inout LineBuffer
    ) {
        clock.write(time, to: &line)
        line.append(" validation: ")
        line.append(text: ValidationWords.line(validation, status))
        line.append(UInt8(ascii: "\n"))
    }

    /// A path in a few words: `wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600`.
    package static func path(_ path: NetworkPath) -> String {
        var line = LineBuffer()
        append(path, to: &line)
        return line.text
    }

    /// An interface with its kind: `wlan0 (wifi)`.
    package static func named(_ interface: NetworkInterface) -> String {
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
            append(ipv4, comparedWith: interface, to: &line)
        }
        if let ipv6 = path.ipv6 {
            line.append(", ipv6 ")
            append(ipv6, comparedWith: interface, to: &line)
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

    /// Appends one family's path; its interface is named only if it differs from the path's.
    private static func append(
        _ path: FamilyPath,
        comparedWith interface: NetworkInterface,
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

    private static func appendReasons(of change: ReachabilityChange, to line: inout LineBuffer) {
        var count = 0
        change.forEachReason { reason in
            line.append(count == 0 ? " [" : ", ")
            line.append(text: reason.rawValue)
            count += 1
        }
        if count > 0 { line.append(UInt8(ascii: "]")) }
    }
}

/// Formats Wi-Fi details.
package enum WiFiText {
    /// `, ssid "office" bssid 02:00:00:00:01:00 2412 MHz -54 dBm`, without what is not known.
    ///
    /// - Parameters:
    ///   - details: The details that a radio reports.
    ///   - isOneOfSeveral: Whether there are others, so that the interface is named.
    /// - Returns: The words, with a comma before them; nothing if nothing is known.
    package static func words(_ details: WiFiDetails, isOneOfSeveral: Bool) -> String {
        var words: [String] = []
        if let bytes = details.ssidBytes { words.append("ssid " + quoted(bytes, text: details.ssid)) }
        if let bssid = details.bssid { words.append("bssid " + bssid) }
        if let frequency = details.frequency { words.append("\(frequency) MHz") }
        if let signal = details.signal { words.append("\(signal) dBm") }
        guard !words.isEmpty else { return "" }
        if isOneOfSeveral { words.insert(details.interface.name.escapedForTerminal, at: 0) }
        return ", " + words.joined(separator: " ")
    }

    /// A network's name between quotation marks; those in it, and what a terminal might obey, are escaped.
    ///
    /// Where it is not text, each byte that is not printable ASCII is written as `\xff`.
    private static func quoted(_ bytes: [UInt8], text: String?) -> String {
        let inner = text?.unicodeScalars.map(escaped).joined().escapedForTerminal ?? bytes.map(escaped).joined()
        return "\"" + inner + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        scalar == "\"" || scalar == "\\" ? "\\" + String(scalar) : String(scalar)
    }

    private static func escaped(_ byte: UInt8) -> String {
        guard !(0x20..<0x7F).contains(byte) else { return escaped(Unicode.Scalar(byte)) }
        return "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension ReachabilityChange {
    /// Calls a closure with the reasons of the change, then with those of the path, each once.
    @inline(__always)
    package func forEachReason(_ body: (ReachabilityReason) -> Void) {
        for reason in reasons { body(reason) }
        for reason in path.reasons where !reasons.contains(reason) { body(reason) }
    }
}

extension NetworkPath {
    /// Whether the path's interface is its only carrier; within one path a number stands for one interface.
    package var isCarriedByItself: Bool {
        carriers.count == 1 && carriers[0].index == interface?.index
    }
}
