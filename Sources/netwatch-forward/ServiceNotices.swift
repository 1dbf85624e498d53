import CommandLineSupport
import LinuxSystem

/// Messages to the service manager that started the tool: readiness, keep-alives and the state (sd_notify(3)).
final class ServiceNotices {
    private let manager: ServiceManager?
    private var isReady = false

    init(_ invitation: ServiceManager.Invitation?) {
        do throws(SystemError) {
            manager = try invitation.map { (invitation) throws(SystemError) in
                try .init(socket: invitation.socket, watchdogInterval: invitation.watchdogInterval)
            }
        } catch {
            manager = nil
            StandardError.note("the service manager can't be told: \(error)")
        }
    }

    /// The time after which a keep-alive is due: a third of the watchdog's; nil without one.
    var interval: Duration? { manager?.watchdogInterval.map { $0 / 3 } }

    /// Reports the state.
    func tell(_ state: String) {
        try? manager?.tell((isReady ? [] : ["READY=1"]) + ["WATCHDOG=1", "STATUS=\(state)"])
        isReady = true
    }

    /// Reports the end.
    func end() { try? manager?.tell(["STOPPING=1"]) }
}
