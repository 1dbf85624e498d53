import NIOCore
import NetworkClientCore

/// The requests that wait at a gate.
///
/// Unchecked, because everything except constants is used on the event loop only.
final class GateWaiters: @unchecked Sendable {
    typealias Ending = Result<GatePass, HTTPError>

    private let loop: any EventLoop
    private let connectivity: any Connectivity
    private let resolver: NameResolver
    private var keeper: GateKeeper?
    private var waiting: [GateKey: [ObjectIdentifier: Waiter]] = [:]

    /// The maximum interval of a timer: NIO's clock stops while the machine is suspended, so the continuous clock is
    /// checked this often.
    private static let longestTimer = Duration.seconds(10)

    /// A waiting request.
    ///
    /// Unchecked, because everything except constants is used on the event loop only.
    final class Waiter: @unchecked Sendable {
        let key: GateKey
        let needsRevalidation: Bool
        let timeout: Duration?
        let start = ContinuousClock.now
        fileprivate var continuation: CheckedContinuation<Ending, Never>?
        fileprivate var isOver = false
        fileprivate var timer: Scheduled<Void>?

        init(_ key: GateKey, needsRevalidation: Bool, _ timeout: Duration?) {
            self.key = key
            self.needsRevalidation = needsRevalidation
            self.timeout = timeout
        }
    }

    init(_ connectivity: any Connectivity, _ resolver: NameResolver, _ loop: any EventLoop) {
        self.connectivity = connectivity
        self.resolver = resolver
        self.loop = loop
    }

    // MARK: From any thread

    func begin(_ waiter: Waiter, _ continuation: CheckedContinuation<Ending, Never>) {
        loop.execute { [self] in
            waiter.continuation = continuation
            // A cancellation may have arrived first.
            if waiter.isOver { end(waiter, .failure(Waiter.cancelled)) } else { enter(waiter) }
        }
    }

    func cancel(_ waiter: Waiter) {
        loop.execute { [self] in
            if waiter.continuation == nil { waiter.isOver = true } else { end(waiter, .failure(Waiter.cancelled)) }
        }
    }

    /// Shuts the gate down; no request waits any more.
    func end() {
        loop.execute { [self] in keeper?.shutDown() }
    }

    // MARK: On the loop

    private func enter(_ waiter: Waiter) {
        let keeper = openedKeeper()
        let verdict = waiter.needsRevalidation ? keeper.refresh(waiter.key) : keeper.verdict(for: waiter.key)
        guard case .closed(let wait) = verdict else {
            // The keeper reports only changes from what it returned here.
            if waiter.needsRevalidation { changed(waiter.key, verdict) }
            return end(waiter, verdict)
        }
        if let timeout = waiter.timeout, timeout <= .zero { return end(waiter, .failure(waiter.timedOut(while: wait))) }
        waiting[waiter.key, default: [:]][ObjectIdentifier(waiter)] = waiter
        keeper.hold(waiter.key)
        // The verdict that the request received, not the keeper's newest: the call for that change is still to come.
        keeper.acknowledge(waiter.key, verdict)
        setTimer(waiter)
    }

    private func openedKeeper() -> GateKeeper {
        if let keeper { return keeper }
        let keeper = GateKeeper(connectivity: connectivity, resolver: resolver, loop: loop) { [weak self] in
            self?.changed($0, $1)
        }
        self.keeper = keeper
        return keeper
    }

    private func changed(_ key: GateKey, _ verdict: GateKeeper.Verdict) {
        guard case .open = verdict, let waiters = waiting[key]?.values else { return }
        for waiter in waiters.sorted(by: { $0.start < $1.start }) { end(waiter, verdict) }
    }

    private func setTimer(_ waiter: Waiter) {
        guard let timeout = waiter.timeout else { return }
        let left = timeout - waiter.start.duration(to: .now)
        guard left > .zero else {
            let verdict = openedKeeper().verdict(for: waiter.key)
            guard case .closed(let wait) = verdict else { return end(waiter, verdict) }
            return end(waiter, .failure(waiter.timedOut(while: wait)))
        }
        waiter.timer = loop.assumeIsolated().scheduleTask(in: .init(min(left, Self.longestTimer))) { [weak self] in
            self?.setTimer(waiter)
        }
    }

    private func end(_ waiter: Waiter, _ verdict: GateKeeper.Verdict) {
        guard case .open(let binding, let addresses) = verdict else { return }
        end(waiter, .success(.init(binding, addresses)))
    }

    private func end(_ waiter: Waiter, _ ending: Ending) {
        guard let continuation = waiter.continuation.take() else { return }
        waiter.isOver = true
        waiter.timer?.cancel()
        waiter.timer = nil
        if waiting[waiter.key]?.removeValue(forKey: ObjectIdentifier(waiter)) != nil {
            if waiting[waiter.key]?.isEmpty == true { waiting[waiter.key] = nil }
            keeper?.letGo(waiter.key)
        }
        continuation.resume(returning: ending)
    }
}

extension GateWaiters.Waiter {
    fileprivate static var cancelled: HTTPError {
        .init(.cancelled, processing: .neverSent, reason: "the request that waited at the gate was cancelled")
    }

    fileprivate func timedOut(while wait: GateWait) -> HTTPError {
        let reason = "waited \(timeout ?? .zero) for \(wait), in vain"
        return .init(.connectivityTimedOut, processing: .neverSent, reason: reason)
    }
}
