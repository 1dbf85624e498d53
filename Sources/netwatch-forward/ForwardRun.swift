import CommandLineSupport
import FleetCore
import Glibc
import LinuxSystem
import MQTTClient
import ReachabilityCore

/// A run of the forwarder: the main thread's loop, which saves the position, renews messages and waits for signals.
struct ForwardRun {
    private let parameters: Forwarder.Parameters
    private let position: PositionFile

    /// The interval at which the retained messages are renewed, long before they expire.
    private static let renewalInterval = Duration.seconds(86_400)
    /// The interval at which the position is written at most.
    private static let savingInterval = Duration.seconds(1)

    init(_ parameters: Forwarder.Parameters, position: PositionFile) {
        (self.parameters, self.position) = (parameters, position)
    }

    /// Forwards until a signal ends it.
    func run(_ notices: ServiceNotices) throws(ToolError) -> ExitStatus {
        let last = try position.read()
        position.makeFolders()
        // Before there is an event whose acknowledgement can't be remembered.
        if let last { try position.write(last) } else { try position.check() }
        let end: Result<ExitStatus, ToolError>
        do throws(SystemError) {
            let signals = try SignalDescriptor([SIGINT, SIGTERM])
            let wakeup = try Wakeup()
            let forwarder = try Forwarder(
                parameters,
                after: last,
                save: { [position] in try? position.write($0) },
                changed: { wakeup.signal() }
            )
            try forwarder.start()
            let loop = ForwardLoop(forwarder: forwarder, position: position, notices: notices)
            end = try loop.run(.init(signals: signals, wakeup: wakeup), last)
        } catch {
            throw error.toolError("forward events")
        }
        return try end.get()
    }

    /// The main thread's loop.
    private struct ForwardLoop {
        let forwarder: Forwarder
        let position: PositionFile
        let notices: ServiceNotices

        /// Returns when a signal was received, or the position can't be written.
        func run(_ wait: MainWait, _ last: String?) throws(SystemError) -> Result<ExitStatus, ToolError> {
            var saved = last
            var (nextSaving, renewal) = (SystemClock.now, SystemClock.now.advanced(by: renewalInterval))
            while true {
                notices.tell(forwarder.summary)
                var due = min(renewal, SystemClock.now.advanced(by: notices.interval ?? renewalInterval))
                if forwarder.position != saved { due = min(due, nextSaving) }
                if case .signal = try wait.next(until: due) { return end(saved) }
                let now = SystemClock.now
                if now >= renewal {
                    forwarder.renew()
                    renewal = now.advanced(by: renewalInterval)
                }
                guard now >= nextSaving, forwarder.position != saved else { continue }
                if let failure = save(&saved) { return .failure(failure) }
                nextSaving = now.advanced(by: savingInterval)
            }
        }

        private func end(_ last: String?) -> Result<ExitStatus, ToolError> {
            notices.end()
            forwarder.stop()
            var saved = last
            return save(&saved).map { .failure($0) } ?? .success(.success)
        }

        private func save(_ saved: inout String?) -> ToolError? {
            guard let current = forwarder.position, current != saved else { return nil }
            do throws(ToolError) { try position.write(current) } catch { return error }
            saved = current
            return nil
        }
    }
}
