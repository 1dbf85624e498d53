import NIOCore
import NetworkClientCore
import ReachabilityCore

extension ConnectionHandler {
    /// Sees to it that the timer fires no later than the next deadline.
    ///
    /// A timer that fires too early is cheap: it asks and is set anew. So a request on a kept connection sets none.
    func arm(_ now: NIODeadline) {
        guard exchange?.isPaused != true, let next = deadlines.next, next.nanoseconds < timerDue, let context else {
            return
        }
        timer?.cancel()
        timerDue = next.nanoseconds
        let delay = TimeAmount.nanoseconds(max(0, next.nanoseconds - Instant(now).nanoseconds))
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in fired() }
    }

    private func fired() {
        timerDue = .max
        timer = nil
        guard exchange?.isPaused != true else { return }
        let now = NIODeadline.now()
        if let kind = deadlines.expired(at: Instant(now)) { expired(kind, now) }
        if !life.isClosed { arm(now) }
    }

    private func expired(_ kind: Deadlines.Kind, _ now: NIODeadline) {
        deadlines[kind] = nil
        guard let exchange else { return close() }
        let limits = exchange.handle.current.limits
        switch kind {
        case .idle: break
        case .total: fail(.total, limits.total, exchange)
        case .read where exchange.isLikelyFollowed: leaveLikelyFollowed()
        case .read: fail(.read, limits.read, exchange)
        case .firstByte where exchange.isBodyHeld: releaseBody(now)
        case .firstByte: fail(.firstByte, limits.firstByte, exchange)
        case .write: checkWriting(now)
        }
    }

    /// The kernel took nothing of what is to be written in time.
    func failWriting() {
        guard let exchange else { return }
        fail(.write, exchange.handle.current.limits.write, exchange)
    }

    private func fail(_ stage: Timeouts.Stage, _ limit: Duration?, _ exchange: Exchange) {
        failExchange(.timedOut(stage, after: limit, exchange.handle.current.copy))
    }
}
