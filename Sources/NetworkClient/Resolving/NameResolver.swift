import LinuxSystem
import Locking
import NIOCore

/// Looks up host names beside the event loops: on threads of its own, each query with a deadline and cancelled at once.
///
/// getaddrinfo(3) blocks, for many seconds when name servers are silent, and nothing interrupts it. NIO's own resolver
/// queues it on the event loop's threads, one name behind the other. Here a name that stalls delays no other name:
/// ``LookupScheduler`` says how. A thread is started when there is work for it, and ends when there is none.
final class NameResolver: Sendable {
    /// The one that all sessions of the process share, so that each name is looked up once at a time.
    static let shared = NameResolver()

    /// Looks up one name; blocks.
    typealias Lookup = @Sendable (String) -> NameAnswer

    private struct State {
        var machine: LookupScheduler
        var promises: [LookupScheduler.QueryID: EventLoopPromise<[SocketAddress]>] = [:]
    }

    private let state: Lock<State>
    private let lookup: Lookup

    /// Makes a resolver; the lookup can be another one in tests, since the system's stalls for nobody on demand.
    init(
        _ configuration: LookupScheduler.Configuration = .init(),
        lookup: @escaping Lookup = SystemLookup.addresses(of:)
    ) {
        state = .init(.init(machine: .init(configuration)))
        self.lookup = lookup
    }

    /// How many threads there are.
    var threads: Int { state.withLock { $0.machine.threads } }

    /// Looks up a name.
    ///
    /// The addresses come in the order of RFC 6724, with port 0, on the loop. The future fails with an `HTTPError`:
    /// `nameNotFound`, `nameTemporarilyUnresolvable`, `nameLookupFailed`, or `resolveTimedOut` after the limit.
    func resolve(_ name: String, limit: Duration?, on loop: any EventLoop) -> NameQuery {
        let promise = loop.makePromise(of: [SocketAddress].self)
        let (id, action) = state.withLock { state in
            let (id, action) = state.machine.query(name, at: .now)
            state.promises[id] = promise
            return (id, action)
        }
        perform(action, for: id, name, on: loop)
        if let limit { expire(id, name, after: limit, promise.futureResult) }
        return NameQuery(addresses: promise.futureResult) { [weak self] in
            self?.end(id, .init(.cancelled, .neverSent, "the lookup of '\(name)' was cancelled"))
        }
    }

    private func expire(
        _ id: LookupScheduler.QueryID,
        _ name: String,
        after limit: Duration,
        _ answer: EventLoopFuture<[SocketAddress]>
    ) {
        let expiry = answer.eventLoop.scheduleTask(in: .init(limit)) { [weak self] in
            self?.end(
                id,
                .init(
                    .resolveTimedOut,
                    .neverSent,
                    "the lookup of '\(name)' took longer than \(limit): see whether the name servers of /etc/resolv.conf answer"
                )
            )
        }
        answer.whenComplete { _ in expiry.cancel() }
    }

    /// Gives a query up with an error, if it still waits.
    private func end(_ id: LookupScheduler.QueryID, _ error: HTTPError) {
        let promise = state.withLock { state in
            state.machine.cancel(id) ? state.promises.removeValue(forKey: id) : nil
        }
        promise?.fail(error)
    }

    private func perform(
        _ action: LookupScheduler.Action,
        for id: LookupScheduler.QueryID,
        _ name: String,
        on loop: any EventLoop
    ) {
        switch action {
        case .wait: break
        case .startThread:
            startThread()
            // The thread may take up a name that has waited longer.
            checkLater(for: id, name, on: loop)
        case .checkLater: checkLater(for: id, name, on: loop)
        case .refuse(let stalled):
            let promise = state.withLock { state in
                _ = state.machine.cancel(id)
                return state.promises.removeValue(forKey: id)
            }
            promise?.fail(
                HTTPError(
                    .nameTemporarilyUnresolvable,
                    .neverSent,
                    """
                    '\(name)' was not looked up, since \(stalled) lookups of other names have had no answer for a while: \
                    see whether the name servers of /etc/resolv.conf answer
                    """
                )
            )
        }
    }

    private func checkLater(for id: LookupScheduler.QueryID, _ name: String, on loop: any EventLoop) {
        loop.scheduleTask(in: .init(state.withLock { $0.machine.configuration.stallThreshold })) { [weak self] in
            guard let self else { return }
            let next = state.withLock { $0.machine.timePassed(for: id, at: .now) }
            perform(next, for: id, name, on: loop)
        }
    }

    private func startThread() {
        do throws(SystemError) {
            try SystemThread.detach("netwatch-lookup", stackSize: AddressLookup.stackSize) { [self] in
                while let (id, name) = state.withLock({ $0.machine.next(at: .now) }) {
                    let answer = lookup(name)
                    deliver(answer.result(for: name), of: id)
                }
            }
        } catch {
            let promises = state.withLock { state in
                state.machine.threadFailed().compactMap { state.promises.removeValue(forKey: $0) }
            }
            let reason = "no thread can be started to look names up: \(error)"
            for promise in promises {
                promise.fail(HTTPError(.nameLookupFailed, .neverSent, reason, errno: error.code))
            }
        }
    }

    private func deliver(_ result: Result<[SocketAddress], HTTPError>, of id: LookupScheduler.FlightID) {
        let promises = state.withLock { state in
            state.machine.finished(id).compactMap { state.promises.removeValue(forKey: $0) }
        }
        for promise in promises { promise.completeWith(result.mapError { $0 }) }
    }
}

/// A lookup that somebody waits for.
struct NameQuery: Sendable {
    /// The addresses.
    let addresses: EventLoopFuture<[SocketAddress]>
    /// Fails the future with `cancelled` at once, if it has no answer yet; from any thread.
    let cancel: @Sendable () -> Void
}

extension TimeAmount {
    /// A duration of Swift's in NIO's nanoseconds, as far as they reach (292 years).
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
        self = isTooLong || overflows ? .nanoseconds(seconds < 0 ? .min : .max) : .nanoseconds(sum)
    }
}
