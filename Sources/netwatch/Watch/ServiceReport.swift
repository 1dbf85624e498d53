import CommandLineSupport
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Tells the service manager, if one started the tool, when the first state has been told, and how it is since.
final class ServiceReport: Sendable {
    private let manager: ServiceManager?
    private let first = FirstState()
    private let isReady = Atomic(false)
    private let hasFailed = Atomic(false)

    /// Takes up what the manager's invitation offers.
    ///
    /// A manager that can't be told is said so once on stderr, and watched is all the same.
    init(_ invitation: ServiceManager.Invitation?) {
        do throws(SystemError) {
            manager = try invitation.map { (invitation) throws(SystemError) in
                try .init(socket: invitation.socket, watchdogInterval: invitation.watchdogInterval)
            }
        } catch {
            manager = nil
            note(error)
        }
    }

    /// When the manager has to be told again that all is well; nil if it does not ask.
    ///
    /// Half of its time, as sd_watchdog_enabled(3) advises.
    func nextSign(after now: Instant) -> Instant? {
        manager?.watchdogInterval.map { now.advanced(by: $0 / 2) }
    }

    /// Takes a notice that has been printed; on the event thread.
    ///
    /// That nothing can be known yet is no first state, but that netlink can't be read is: it stays so.
    func tell(_ change: StateChange) {
        guard manager != nil else { return }
        let status = "STATUS=\(Self.words(for: change))"
        let isFirst = first.take(change) && !isReady.exchange(true, ordering: .relaxed)
        send(isFirst ? ["READY=1", status] : [status])
    }

    /// Tells that all is well; on the event thread, so that it is not said while that one hangs.
    func giveSign() { send(["WATCHDOG=1"]) }

    /// Tells that the end has begun.
    func end() { send(["STOPPING=1"]) }

    /// What `systemctl status` shows.
    private static func words(for change: StateChange) -> String {
        let name = change.path.interface.map { " through \($0.name.escapedForTerminal)" } ?? ""
        return change.status.name + name
    }

    private func send(_ assignments: [String]) {
        do throws(SystemError) { try manager?.tell(assignments) } catch { note(error) }
    }

    /// Says once what went wrong; where stderr can't be written there is nobody to tell.
    private func note(_ error: SystemError) {
        guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
        let words = "the service manager that NOTIFY_SOCKET names can't be told: \(error)"
        try? LineOutput.standardError.write("netwatch: \(words)\n")
    }
}
