import CommandLineSupport
import NetwatchCore
import Reachability
import ReachabilityCore

/// Writes the path to a host as a line of JSON, version 1; `docs/events.md` describes it.
enum HostPathJSON {
    /// Returns the line, with its line feed.
    static func line(_ path: HostPath, at time: Timestamp) -> [UInt8] {
        var line = LineBuffer()
        line.append(#"{"v":1,"time":""#)
        var clock = TimestampText.utc
        clock.write(time, to: &line)
        line.append(#"","host":"#)
        line.append(quotedForJSONAndTerminal: path.host)
        line.append(path.isReachable ? #","reachable":true,"error":"# : #","reachable":false,"error":"#)
        append(path.resolutionError?.description, to: &line)
        line.append(#","paths":["#)
        for (position, path) in path.paths.enumerated() {
            if position > 0 { line.append(",") }
            append(path, to: &line)
        }
        line.append("]}\n")
        return line.withBytes { Array($0) }
    }

    private static func append(_ path: DestinationPath, to line: inout LineBuffer) {
        line.append(#"{"address":"#)
        append(path.destination.description, to: &line)
        line.append(#","status":"#)
        append(path.status.name, to: &line)
        line.append(#","interface":"#)
        append(path.interface, to: &line)
        line.append(#","gateway":"#)
        append(path.gateway?.description, to: &line)
        line.append(#","source":"#)
        append(path.source?.description, to: &line)
        line.append(path.isExpensive ? #","expensive":true,"reasons":["# : #","expensive":false,"reasons":["#)
        for (position, reason) in path.reasons.enumerated() {
            if position > 0 { line.append(",") }
            append(reason.rawValue, to: &line)
        }
        line.append("]}")
    }

    private static func append(_ interface: NetworkInterface?, to line: inout LineBuffer) {
        guard let interface else { return line.append("null") }
        line.append(#"{"index":"#)
        line.append(interface.index)
        line.append(#","name":"#)
        append(interface.name, to: &line)
        line.append(#","kind":"#)
        append(interface.kind.rawValue, to: &line)
        line.append("}")
    }

    private static func append(_ text: String?, to line: inout LineBuffer) {
        if let text { line.append(quotedForJSONAndTerminal: text) } else { line.append("null") }
    }
}
