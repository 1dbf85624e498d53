import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// `netwatch outbox run`: sends.
struct RunCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is in the outbox, if no other process does, until a signal ends it."
    )

    @OptionGroup var box: BoxOptions
    @Flag(help: "End when no item is left but those that are held back or in paused lanes.")
    var once = false

    func execute() throws(ToolError) -> ExitStatus {
        let invitation = ServiceManager.Invitation.take()
        let signals: SignalDescriptor
        let wakeup: Wakeup
        do throws(SystemError) {
            signals = try SignalDescriptor([SIGINT, SIGTERM])
            wakeup = try Wakeup()
        } catch {
            throw error.toolError("receive signals")
        }
        if once { try box.requireFolder(allowsIncoming: true) }
        try box.becomeOwner()
        let path = box.path
        let outbox = try waiting { try await Outbox(at: path, session: try Self.session()) }
        let work = SendingWork(outbox, wakeup, once: once)
        let display = SendingDisplay(report: ServiceNotices(invitation))
        let loop = SendingLoop(work: work, wait: .init(signals: signals, wakeup: wakeup), display: display)
        let end = try loop.run()
        work.end()
        try waiting { await outbox.shutdown(within: .seconds(5)) }
        return end
    }

    private static func session() throws -> HTTPSession {
        let headers: HTTPFields = [.userAgent: "netwatch/\(CommandLineProgram.version)"]
        return try HTTPSession(
            configuration: .init(headers: headers, gate: .waitsForConnectivity(nil), retry: .standard)
        )
    }
}

/// The main thread of `run`: signals, the service manager's watchdog, and the line on a terminal.
private struct SendingLoop {
    let work: SendingWork
    let wait: MainWait
    let display: SendingDisplay

    /// Returns when a signal ends the command, or with `--once` the work.
    func run() throws(ToolError) -> ExitStatus {
        var display = display
        work.look()
        do throws(SystemError) {
            while true {
                switch try wait.next(until: SystemClock.now.advanced(by: display.interval)) {
                case .signal:
                    display.end()
                    return .success
                case .wakeup:
                    if let contents = work.takeContents() { display.show(contents) }
                    guard work.isDone else { continue }
                    display.end()
                    return .success
                case .deadline: work.look()
                case .outputClosed: continue
                }
            }
        } catch {
            throw error.toolError("wait for signals")
        }
    }
}
