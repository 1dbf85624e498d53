import ReachabilityCore

extension EventLoop {
    /// Gets over messages that the kernel dropped, because the event socket's buffer was full.
    ///
    /// The kernel adds nothing to a queue that has overrun before that is empty, and does not say what it drops until
    /// then. All that is queued is older than what is read from now on, so a new socket hears what comes after. That
    /// takes some microseconds, however long the queue: the kernel frees it later, by itself.
    func overrun() {
        do throws(MonitorError) {
            if renewEvents() { try watchEvents() } else { try emptyEvents() }
            watcher.invalidate()
            alterMachine { $0.overrun(at: Clock.now) }
        } catch {
            alterMachine { $0.failed(at: Clock.now) }
        }
    }

    /// Whether there is a new event socket; if not, too many files are open, or memory is short.
    private func renewEvents() -> Bool {
        do throws(NetlinkError) {
            try sockets.renewEvents(
                bufferSize: configuration.receiveBufferSize,
                watching: heardDestinations,
                neighbours: hearsNeighbours
            )
            return true
        } catch {
            return false
        }
    }

    /// Empties the event socket message by message.
    private func emptyEvents() throws(MonitorError) {
        while !run.isStopping {
            switch sockets.events.receive(into: buffer) {
            case .datagram, .foreign, .overrun, .truncated: continue
            case .empty: return
            case .failed(let errno): throw MonitorError(.netlinkFailed, errno: errno, "recvmsg")
            }
        }
    }
}
