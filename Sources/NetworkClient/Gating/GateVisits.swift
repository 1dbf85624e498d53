import NIOCore
import NetworkClientCore

/// The requests that wait at a gate.
///
/// Unchecked, because everything except constants is used on the event loop only.
final class GateVisits: @unchecked Sendable {
    typealias Ending = Result<GatePass, HTTPError>

    private let loop: any EventLoop
    private let connectivity: any Connectivity
    private let resolver: NameResolver
    private var keeper: GateKeeper?
    private var waiting: [GateKey: [ObjectIdentifier: Visit]] = [:]

    /// The maximum interval of a timer: NIO's clock stops while the machine is suspended, so the continuous clock is
    /// checked this often.
    private static let longestTimer = Duration.seconds(10)

    /// A waiting request.
    ///
    /// Unchecked, because everything except constants is used on the event loop only.
    final class Visit: @unchecked Sendable {
        let key: GateKey
        let isDoubted: Bool
        let timeout: Duration?
        let start = ContinuousClock.now
        fileprivate var continuation: CheckedContinuation<Ending, Never>?
        fileprivate var isOver = false
        fileprivate var timer: Scheduled<Void>?

        init(_ key: GateKey, isDoubted: Bool, _ timeout: Duration?) {
            self.key = key
            self.isDoubted = isDoubted
            self.timeout = timeout
        }
    }

    init(_ connectivity: any Connectivity, _ resolver: NameResolver, _ loop: any EventLoop) {
        self.connectivity = connectivity
        self.resolver = resolver
        self.loop = loop
    }

    // MARK: From any thread

    func begin(_ visit: Visit, _ continuation: CheckedContinuation<Ending, Never>) {
        loop.execute { [self] in
            visit.continuation = continuation
            // A cancellation may have arrived first.
            if visit.isOver { end(visit, .failure(.cancelledAtGate)) } else { enter(visit) }
        }
    }

    func cancel(_ visit: Visit) {
        loop.execute { [self] in
            if visit.continuation == nil { visit.isOver = true } else { end(visit, .failure(.cancelledAtGate)) }
        }
    }

    /// Shuts the gate down; no request waits any more.
    func end() {
        loop.execute { [self] in keeper?.shutDown() }
    }

    // MARK: On the loop

    private func enter(_ visit: Visit) {
        let keeper = openedKeeper()
        let verdict = visit.isDoubted ? keeper.refresh(visit.key) : keeper.verdict(for: visit.key)
        guard case .closed(let wait) = verdict else { return end(visit, verdict) }
        if let timeout = visit.timeout, timeout <= .zero { return end(visit, .failure(.timedOut(visit, wait))) }
        waiting[visit.key, default: [:]][ObjectIdentifier(visit)] = visit
        keeper.hold(visit.key)
        // The verdict that the request received, not the keeper's newest: the call for that change is still to come.
        keeper.acknowledge(visit.key, verdict)
        setTimer(visit)
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
        guard case .open = verdict, let visits = waiting[key]?.values else { return }
        for visit in visits.sorted(by: { $0.start < $1.start }) { end(visit, verdict) }
    }

    private func setTimer(_ visit: Visit) {
        guard let timeout = visit.timeout else { return }
        let left = timeout - visit.start.duration(to: .now)
        guard left > .zero else {
            let verdict = openedKeeper().verdict(for: visit.key)
            guard case .closed(let wait) = verdict else { return end(visit, verdict) }
            return end(visit, .failure(.timedOut(visit, wait)))
        }
        visit.timer = loop.assumeIsolated().scheduleTask(in: .init(min(left, Self.longestTimer))) { [weak self] in
            self?.setTimer(visit)
        }
    }

    private func end(_ visit: Visit, _ verdict: GateKeeper.Verdict) {
        guard case .open(let binding, let addresses) = verdict else { return }
        end(visit, .success(.init(binding, addresses)))
    }

    private func end(_ visit: Visit, _ ending: Ending) {
        guard let continuation = visit.continuation.take() else { return }
        visit.isOver = true
        visit.timer?.cancel()
        visit.timer = nil
        if waiting[visit.key]?.removeValue(forKey: ObjectIdentifier(visit)) != nil {
            if waiting[visit.key]?.isEmpty == true { waiting[visit.key] = nil }
            keeper?.letGo(visit.key)
        }
        continuation.resume(returning: ending)
    }
}

extension HTTPError {
    fileprivate static var cancelledAtGate: Self {
        .init(.cancelled, .neverSent, "the request that waited at the gate was cancelled")
    }

    fileprivate static func timedOut(_ visit: GateVisits.Visit, _ wait: GateWait) -> Self {
        let time = visit.timeout ?? .zero
        return .init(.connectivityTimedOut, .neverSent, "waited \(time) for \(wait), in vain")
    }
}
