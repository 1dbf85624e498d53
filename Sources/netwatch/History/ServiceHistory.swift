import CommandLineSupport
import EventService
import Glibc
import LinuxSystem
import NetwatchCore

/// The changes that the event service has stored.
struct ServiceHistory {
    /// The path of the service's socket.
    let socket: String

    /// The longest period that the service reports, in minutes: 366 days.
    private static let longest: Int64 = 366 * 1440

    /// Reads the lines of a period that ends now.
    ///
    /// - Parameter age: When the period begins; nil for everything.
    /// - Returns: The lines.
    /// - Throws: An error if no service runs there, or it does not respond, keeps no journal, or can't read it.
    func lines(since age: Duration?) throws(ToolError) -> [UInt8] {
        let problem: String
        let minutes = age.map { min(($0.components.seconds + 119) / 60, Self.longest) } ?? Self.longest
        do throws(SystemError) {
            var connection = try EventSocket(path: socket)
            try connection.send("/v1/history?since=\(minutes)m", ["Accept: application/x-ndjson"])
            switch try connection.status(within: EventSocket.timeout) {
            case 200: return try connection.rest(within: EventSocket.timeout)
            case 404: problem = "keeps no journal; start it with 'netwatch serve --journal DIR'"
            case 503: problem = "cannot read its journal; see its log"
            default: throw .init(code: EPROTO)
            }
        } catch {
            let name = socket.escapedForTerminal
            if [ETIMEDOUT, EAGAIN].contains(error.code) {
                let what = "the event service at '\(name)' does not respond; try again, or restart it"
                throw .init(what, exit: .timedOut)
            }
            let fix = "start it with 'netwatch serve --journal DIR', or name its socket"
            throw .init("cannot read from the event service at '\(name)': \(error); \(fix)", exit: .badData)
        }
        throw .init("the event service \(problem)", exit: .badData)
    }
}
