extension MonitorStateMachine {
    /// Learns that a netlink socket failed, or does not answer.
    public mutating func failed(at now: Instant) {
        connection.fail(at: now)
        reading.abandon()
        assembly.cancel()
        hasFinishedReadings = false
        questions.cancel()
    }

    /// Learns that the sockets are open again, and hear the groups that they heard before.
    public mutating func reopened(at now: Instant) {
        counters.reopened += 1
        connection.open()
        // nl80211's messages were lost with the sockets.
        forgetAssociations(at: now)
        resync(.socketReopened)
    }

    /// Learns that the sockets could not be opened.
    public mutating func reopenFailed(at now: Instant) {
        connection.failAgain(at: now)
    }

    /// Ends: gives the last notice, which says that nothing is known any more.
    public mutating func stop() -> StateChange {
        let change = publisher.stop()
        counters.published = change.sequence
        return change
    }

    /// What to do while the sockets do not work.
    mutating func recover(at now: Instant) -> MonitorAction? {
        if connection.takeAttempt(at: now) { return .reopen }
        guard connection.takeReport(at: now), let notice = publisher.fail(.netlinkFailed) else { return nil }
        notices.append(notice)
        return next(at: now)
    }
}
