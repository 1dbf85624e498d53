import NIOCore
import Reachability
import ReachabilityCore

extension SessionCore {
    /// What judges the ways out; nil in a session of which no request ever asks.
    ///
    /// A request may ask though its session does not: so it is made with the first request that is not plain.
    func makeKeeper() -> GateKeeper {
        GateKeeper(
            connectivity: configuration.connectivity ?? ReachabilityMonitor.shared,
            resolver: resolver,
            loop: loop,
            onChange: { [weak self] key, verdict in self?.dispatcher.gateChanged(key, verdict) }
        )
    }

    /// What follows the paths of connections; nil in a session without a gate.
    var followingKeeper: GateKeeper? {
        guard configuration.gate.waits || configuration.requirement != .any || hasKeeper else { return nil }
        return dispatcher.keeper
    }

    /// There is no way any more to where connections are being opened: who waits for them waits for a way instead.
    func giveUpConnecting(_ key: GateKey, _ wait: GateWait) {
        for host in Array(hosts.values) where GateKey(host.endpoint) == key { host.giveUpConnecting(wait) }
    }

    /// The user pauses a request.
    func pause(_ handle: RequestHandle) {
        guard !handle.run.isPaused, handle.run.life.phase != .finished else { return }
        handle.run.isPaused = true
        handle.noteState()
        if isObserved(handle) { tell(.paused, handle) }
        switch handle.run.place {
        case .ending, .elsewhere, .asked:
            handle.run.timer?.cancel()
            handle.run.timer = nil
            pauseUnderWay(handle)
        case .connection(let connection) where connection.canGoOnByRange: interrupt(handle, connection)
        case .connection(let connection):
            connection.pauseExchange()
            pauseUnderWay(handle)
        case .waiting(let host):
            host.withdraw(handle)
            hold(handle)
        case .checking: hold(handle)
        case .nowhere:
            if handle.run.life.phase == .waiting { dispatcher.pause(handle) }
        }
    }

    /// Keeps what was let go and has no connection yet.
    private func hold(_ handle: RequestHandle) {
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        dispatcher.pause(handle)
    }

    /// Gives the connection up: what has come is kept, and another attempt goes on behind it.
    private func interrupt(_ handle: RequestHandle, _ connection: ConnectionHandler) {
        handle.run.place = .nowhere
        connection.abandon()
        handle.run.life.interrupted()
        handle.run.metrics.bodyBytesReceived = 0
        dispatcher.pause(handle)
    }

    private func pauseUnderWay(_ handle: RequestHandle) {
        handle.extras.pauseStart = .now()
        dispatcher.pauseUnderWay(handle)
    }

    /// The user starts a request, or lets one go on.
    func resume(_ handle: RequestHandle) {
        guard handle.run.isPaused else { return start(handle) }
        handle.run.isPaused = false
        handle.noteState()
        handle.run.extras?.countPause()
        if isObserved(handle) { tell(.resumed, handle) }
        if handle.run.life.phase == .ready { return start(handle) }
        dispatcher.resume(handle)
        switch handle.run.place {
        case .connection(let connection): connection.resumeExchange()
        case .asked: goOnAsked(handle)
        case .ending, .elsewhere: limit(handle)
        case .waiting, .checking, .nowhere: break
        }
    }
}

extension Outcome.Ending {
    /// Whether an answer came.
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
