import NIOCore
import NetworkClientCore

/// Requests that are paused by their user while they are under way.
extension ConnectionHandler {
    /// Whether the connection can be given up in a pause, since the receiver goes on behind what it has.
    var canGoOnByRange: Bool { exchange?.receiver?.continuesByRange == true }

    /// Sends no more of the body, reads no more of the answer, and lets no deadline go on.
    func pauseExchange() {
        guard exchange != nil else { return }
        exchange?.isPaused = true
        isHolding = true
        holdReading()
    }

    /// Takes what came meanwhile as if it came now, as far as it can be taken.
    func takeHeld() {
        guard isHolding, exchange?.isTakerBusy != true, exchange?.isPaused != true else { return }
        let held = held
        self.held = .init()
        isHolding = false
        do throws(HTTPError) { try inflate() } catch { return failExchange(error) }
        for part in held.parts where !life.isClosed {
            if isHolding { self.held.parts.append(part) } else { received(part) }
        }
        guard !isHolding else {
            (self.held.isLost, self.held.cause) = (held.isLost, held.cause)
            return
        }
        settle()
        if held.isLost, !life.isClosed { lost(held.cause) }
    }

    /// Goes on where it was paused; each stage has its whole time again.
    func resumeExchange() {
        guard let exchange, exchange.isPaused else { return }
        self.exchange?.isPaused = false
        let (handle, limits, now) = (exchange.handle, exchange.handle.current.limits, NIODeadline.now())
        deadlines.clear()
        deadlines[.total] = handle.deadline.map(Instant.init)
        if exchange.isBodyHeld, exchange.head == nil {
            holdBody(now)
        } else if !life.isRequestSent {
            // What gives the body may rest: then there is nothing that the kernel could take.
            if exchange.piecesUnderWay > 0 || unwritten > 0 { watchWriting(now) }
        } else if exchange.head == nil {
            deadlines[.firstByte] = due(limits.firstByte, now)
        }
        arm(now)
        takeHeld()
        // Also where the answer has come to its end: the connection is to serve others.
        if self.exchange?.isTakerBusy != true { letReadingGo() }
        feed()
    }
}
