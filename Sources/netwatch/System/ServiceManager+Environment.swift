import Glibc

extension ServiceManager {
    /// What an environment says of the manager.
    struct Invitation: Hashable, Sendable {
        /// The value of `NOTIFY_SOCKET`.
        let socket: String
        /// How often the manager wants to hear of the tool; nil if it does not ask.
        let watchdogInterval: Duration?

        /// Reads it out of variables; nil if there is no manager.
        ///
        /// - Parameters:
        ///   - process: This process, which `WATCHDOG_PID` may name or not.
        ///   - value: Gives a variable's value, or nil.
        init?(process: pid_t, value: (String) -> String?) {
            guard let socket = value("NOTIFY_SOCKET"), !socket.isEmpty else { return nil }
            self.socket = socket
            let chosen = value("WATCHDOG_PID")
            let isMeant = chosen == nil || chosen.flatMap(pid_t.init) == process
            let microseconds = value("WATCHDOG_USEC").flatMap(Int64.init) ?? 0
            watchdogInterval = isMeant && microseconds > 0 ? .microseconds(min(microseconds, 86_400_000_000)) : nil
        }

        /// Takes it out of this process's environment: what the tool itself starts is not the service.
        ///
        /// To be called before there is a second thread (environ(7)).
        static func take() -> Self? {
            let invitation = Self(process: getpid()) { name in getenv(name).map { String(cString: $0) } }
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
            return invitation
        }
    }
}
