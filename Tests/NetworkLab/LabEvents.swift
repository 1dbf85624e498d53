import Glibc
package import ReachabilityCore

/// Receives the kernel's notifications in a namespace, so that a test waits for an event and never sleeps.
///
/// Make it before the change that is waited for: earlier changes are not announced again.
package final class LabEvents: Sendable {
    private let socket: RtnlSocket

    /// Joins groups in a namespace; by default all.
    package init(in lab: LabNamespace, _ groups: [RtnlGroup] = RtnlGroup.allCases) throws {
        socket = try lab.run { try RtnlSocket(groups: groups) }
    }

    /// Reads events until one satisfies a condition, and returns all that were read, that one last.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, with a description of the condition.
    @discardableResult
    package func wait(
        for what: String,
        within limit: Duration = .seconds(120),
        until condition: (KernelEvent) -> Bool
    ) throws(LabError) -> [KernelEvent] {
        let deadline = ContinuousClock.now + limit
        var events: [KernelEvent] = []
        while true {
            guard try socket.waitForInput(within: ContinuousClock.now.duration(to: deadline)) else {
                throw LabError("wait for \(what)", errno: ETIMEDOUT, detail: "seen: \(events)")
            }
            for message in try socket.receiveNow() {
                events.append(try message.event())
                if condition(events[events.count - 1]) { return events }
            }
        }
    }

    /// Checks a condition now and again after each event, until it holds.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, with a description of the condition; the condition's errors.
    package func wait(
        for what: String,
        within limit: Duration = .seconds(120),
        untilTrue condition: () throws -> Bool
    ) throws {
        let deadline = ContinuousClock.now + limit
        while try !condition() {
            guard try socket.waitForInput(within: ContinuousClock.now.duration(to: deadline)) else {
                throw LabError("wait for \(what)", errno: ETIMEDOUT)
            }
            _ = try socket.receiveNow()
        }
    }

    /// The notifications that were not yet read, without waiting.
    ///
    /// rtnetlink announces a change before it acknowledges the request that made it, so that a change that a test made
    /// with ``Rtnl`` is included, unless the kernel makes it later by itself.
    package func pending() throws(LabError) -> [KernelEvent] {
        var events: [KernelEvent] = []
        for message in try pendingMessages() { events.append(try message.event()) }
        return events
    }

    /// The same as messages with their headers, after waiting up to a limit for the first.
    package func pendingMessages(within limit: Duration = .zero) throws(LabError) -> [RtnlMessage] {
        var messages: [RtnlMessage] = []
        while try socket.waitForInput(within: messages.isEmpty ? limit : .zero) {
            messages += try socket.receiveNow()
        }
        return messages
    }
}
