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
        if isObserved(handle) { tell(.paused, handle) }
        switch handle.run.place {
        case .connection, .elsewhere: dispatcher.pauseUnderWay(handle)
        case .waiting(let host):
            host.withdraw(handle)
            handle.run.place = .nowhere
            handle.run.timer?.cancel()
            handle.run.timer = nil
            dispatcher.pause(handle)
        case .nowhere:
            if handle.run.life.phase == .waiting { dispatcher.pause(handle) }
        }
    }

    /// The user starts a request, or lets one go on.
    func resume(_ handle: RequestHandle) {
        guard handle.run.isPaused else { return start(handle) }
        handle.run.isPaused = false
        if isObserved(handle) { tell(.resumed, handle) }
        if handle.run.life.phase == .ready { start(handle) } else { dispatcher.resume(handle) }
    }
}

extension Outcome.Ending {
    /// Whether an answer came.
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
