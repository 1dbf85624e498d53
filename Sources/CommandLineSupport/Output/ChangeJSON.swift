package import NetwatchCore
package import ReachabilityCore

/// Writes changes as JSON lines, version 1; `docs/event.schema.json` is the law.
///
/// The text between two values is appended as one piece, so that a line takes few steps.
package enum ChangeJSON {
    /// Appends one change as a line, with the line feed.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - time: When it came.
    ///   - clock: How that is written.
    ///   - tellsKindSource: Whether interfaces have the member `by`, the source of their kind.
    ///   - validation: The report about its path; nil if validation is off, or there is none yet.
    ///   - isOfValidation: Whether only the verdict has changed.
    ///   - line: What to append to.
    package static func append(
        _ change: ReachabilityChange,
        at time: Timestamp,
        by clock: inout TimestampText,
        tellsKindSource: Bool,
        validation: ValidationSummary? = nil,
        isOfValidation: Bool = false,
        to line: inout LineBuffer
    ) {
        line.append(#"{"v":1,"seq":"#)
        line.append(change.sequence)
        line.append(#","time":""#)
        clock.write(time, to: &line)
        line.append(#"","event":""#)
        line.append(text: isOfValidation ? "validation" : change.event.rawValue)
        line.append(#"","status":""#)
        line.append(text: change.status.name)
        line.append(#"","previous":"#)
        appendStatus(change.previous, to: &line)
        line.append(#","path":{"interface":"#)
        appendPath(of: change, tellsKindSource, to: &line)
        line.append(change.path.isExpensive ? #","expensive":true"# : #","expensive":false"#)
        line.append(
            change.path.isConstrained ? #","constrained":true},"reasons":["# : #","constrained":false},"reasons":["#
        )
        appendReasons(of: change, to: &line)
        line.append(UInt8(ascii: "]"))
        if let suspended = change.suspended {
            line.append(#","suspended":"#)
            append(seconds: suspended, to: &line)
        }
        if let validation {
            line.append(#","validation":"#)
            line.append(text: validation.json)
        }
        line.append("}\n")
    }

    /// Seconds to three decimal places.
    private static func append(seconds duration: Duration, to line: inout LineBuffer) {
        let (seconds, attoseconds) = max(duration, .zero).components
        line.append(UInt64(seconds))
        line.append(UInt8(ascii: "."))
        let milliseconds = attoseconds / 1_000_000_000_000_000
        line.append(text: String(String(1_000 + milliseconds).dropFirst()))
    }

    private static func appendPath(of change: ReachabilityChange, _ tellsKindSource: Bool, to line: inout LineBuffer) {
        let start = line.count
        if let interface = change.path.interface {
            append(interface, tellsKindSource, change.path.wifi, to: &line)
        } else {
            line.append("null")
        }
        let written = start..<line.count
        line.append(#","carriers":["#)
        let carriers = line.count
        if change.path.isCarriedByItself {
            line.append(again: written)
        } else {
            append(change.path.carriers, tellsKindSource, change.path.wifi, to: &line)
        }
        let list = carriers..<line.count
        line.append(#"],"ipv4":"#)
        append(change.path.ipv4, of: change.path, carriers: list, tellsKindSource, to: &line)
        line.append(#","ipv6":"#)
        append(change.path.ipv6, of: change.path, carriers: list, tellsKindSource, to: &line)
    }

    private static func append(
        _ carriers: [NetworkInterface],
        _ tellsKindSource: Bool,
        _ wifi: [WiFiDetails],
        to line: inout LineBuffer
    ) {
        for position in carriers.indices {
            if position > 0 { line.append(UInt8(ascii: ",")) }
            append(carriers[position], tellsKindSource, wifi, to: &line)
        }
    }

    private static func append(
        _ interface: NetworkInterface,
        _ tellsKindSource: Bool,
        _ wifi: [WiFiDetails],
        to line: inout LineBuffer
    ) {
        line.append(#"{"index":"#)
        line.append(interface.index)
        line.append(#","name":"#)
        line.append(quotedForJSON: interface.name)
        line.append(#","kind":""#)
        line.append(text: interface.kind.rawValue)
        if tellsKindSource {
            line.append(#"","by":""#)
            line.append(text: interface.kindSource.rawValue)
        }
        line.append(UInt8(ascii: "\""))
        for details in wifi where details.interface.index == interface.index { append(details, to: &line) }
        line.append(UInt8(ascii: "}"))
    }

    /// Appends the Wi-Fi details of an interface.
    private static func append(_ details: WiFiDetails, to line: inout LineBuffer) {
        line.append(#","wifi":{"ssid":"#)
        append(details.ssid, to: &line)
        line.append(#","ssidHex":"#)
        append(details.ssidHexadecimal, to: &line)
        line.append(#","bssid":"#)
        append(details.bssid, to: &line)
        line.append(#","frequency":"#)
        append(number: details.frequency.map(Int.init), to: &line)
        line.append(#","signal":"#)
        append(number: details.signal, to: &line)
        line.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String?, to line: inout LineBuffer) {
        if let text { line.append(quotedForJSONAndTerminal: text) } else { line.append("null") }
    }

    private static func append(number: Int?, to line: inout LineBuffer) {
        if let number { line.append(text: String(number)) } else { line.append("null") }
    }

    /// Appends one family's path; `list` is where the line has the carriers of the whole path.
    private static func append(
        _ path: FamilyPath?,
        of whole: NetworkPath,
        carriers list: Range<Int>,
        _ tellsKindSource: Bool,
        to line: inout LineBuffer
    ) {
        guard let path else { return line.append("null") }
        line.append(#"{"interface":"#)
        line.append(quotedForJSON: path.interface.name)
        line.append(#","kind":""#)
        line.append(text: path.interface.kind.rawValue)
        line.append(#"","carriers":["#)
        if path.carriers == whole.carriers {
            line.append(again: list)
        } else {
            append(path.carriers, tellsKindSource, whole.wifi, to: &line)
        }
        line.append(#"],"gateway":"#)
        if let gateway = path.gateway {
            line.append(UInt8(ascii: "\""))
            line.append(gateway)
            line.append(#"","source":""#)
        } else {
            line.append(#"null,"source":""#)
        }
        line.append(path.source)
        line.append(#"","metric":"#)
        line.append(UInt64(path.metric))
        line.append(UInt8(ascii: "}"))
    }

    private static func appendStatus(_ status: ReachabilityStatus?, to line: inout LineBuffer) {
        guard let status else { return line.append("null") }
        line.append(UInt8(ascii: "\""))
        line.append(text: status.name)
        line.append(UInt8(ascii: "\""))
    }

    private static func appendReasons(of change: ReachabilityChange, to line: inout LineBuffer) {
        var isFirst = true
        change.forEachReason { reason in
            if isFirst { line.append(UInt8(ascii: "\"")) } else { line.append(#"",""#) }
            line.append(text: reason.rawValue)
            isFirst = false
        }
        if !isFirst { line.append(UInt8(ascii: "\"")) }
    }
}
