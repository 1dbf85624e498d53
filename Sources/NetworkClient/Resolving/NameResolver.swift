import LinuxSystem
import Locking
import NIOCore

/// Looks up host names on its own threads, off the event loops; each query has a timeout and can be cancelled
/// immediately.
///
/// getaddrinfo(3) blocks, for many seconds when name servers don't respond, and can't be interrupted. NIO's own
/// resolver queues it on the event loop's threads, one name after the other. Here a stalled name delays no other name;
/// see ``LookupScheduler``. A thread is started when there is work for it, and ends when there is none.
final class NameResolver: Sendable {
    /// The resolver that all sessions of the process share, so that queries for one name share a lookup.
    static let shared = NameResolver()

    /// Looks up one name; blocks.
    typealias Lookup = @Sendable (String) -> LookupResult

    private struct State {
        var machine: LookupScheduler
        var promises: [LookupScheduler.QueryID: EventLoopPromise<[SocketAddress]>] = [:]
    }

    private let state: Lock<State>
    private let lookup: Lookup

    /// Creates a resolver; tests can replace the lookup, since the system's can't be made to stall.
    init(
        _ configuration: LookupScheduler.Configuration = .init(),
        lookup: @escaping Lookup = SystemLookup.addresses(of:)
    ) {
        state = .init(.init(machine: .init(configuration)))
        self.lookup = lookup
    }

    /// The number of threads.
    var threads: Int { state.withLock { $0.machine.threads } }

    /// Looks up a name.
    ///
    /// The future succeeds on the loop with the addresses in the order of RFC 6724, with port 0. It fails with an
    /// `HTTPError`: `nameNotFound`, `nameTemporarilyUnresolvable`, `nameLookupFailed`, or `resolveTimedOut` after the
    /// limit.
    func resolve(_ name: String, limit: Duration?, on loop: any EventLoop) -> NameQuery {
        let promise = loop.makePromise(of: [SocketAddress].self)
        let (id, action) = state.withLock { state in
            let (id, action) = state.machine.query(name, at: .now)
            state.promises[id] = promise
            return (id, action)
        }
        perform(action, for: id, name, on: loop)
        if let limit { expire(id, name, after: limit, promise.futureResult) }
        return NameQuery(addresses: promise.futureResult) { [weak self] isOutdated in
            let reason = "the lookup of '\(name)' was cancelled"
            self?.end(id, .init(.cancelled, processing: .neverSent, reason: reason), isOutdated: isOutdated)
        }
    }

    private func expire(
        _ id: LookupScheduler.QueryID,
        _ name: String,
        after limit: Duration,
        _ future: EventLoopFuture<[SocketAddress]>
    ) {
        let expiry = future.eventLoop.scheduleTask(in: .init(limit)) { [weak self] in
            self?.end(
                id,
                .init(
                    .resolveTimedOut,
                    processing: .neverSent,
                    reason: """
                        the lookup of '\(name)' took longer than \(limit): \
                        see whether the name servers of /etc/resolv.conf respond
                        """
                )
            )
        }
        future.whenComplete { _ in expiry.cancel() }
    }

    /// Fails a query with an error, if it is still waiting.
    private func end(_ id: LookupScheduler.QueryID, _ error: HTTPError, isOutdated: Bool = false) {
        let promise = state.withLock { state in
            state.machine.cancel(id, isOutdated: isOutdated) ? state.promises.removeValue(forKey: id) : nil
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
            // The thread may first run a lookup that was queued earlier.
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
                    processing: .neverSent,
                    reason: """
                        '\(name)' was not looked up, since \(stalled) lookups of other names have had no response \
                        for a while: see whether the name servers of /etc/resolv.conf respond
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
                    let found = lookup(name)
                    deliver(found.result(for: name), of: id)
                }
            }
        } catch {
            let promises = state.withLock { state in
                state.machine.threadFailed().compactMap { state.promises.removeValue(forKey: $0) }
            }
            let reason = "no thread can be started to look names up: \(error)"
            for promise in promises {
                promise.fail(HTTPError(.nameLookupFailed, processing: .neverSent, reason: reason, errno: error.code))
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

/// A query for the addresses of a name.
struct NameQuery: Sendable {
    /// The addresses.
    let addresses: EventLoopFuture<[SocketAddress]>
    fileprivate let end: @Sendable (_ isOutdated: Bool) -> Void

    /// Fails the future with `cancelled` immediately, if it is not complete; can be called from any thread.
    func cancel() { end(false) }

    /// Cancels it because the network changed: the next query for the name starts another lookup.
    func cancelOutdated() { end(true) }
}

extension TimeAmount {
    /// Converts a duration to NIO's nanoseconds, clamped to their range (292 years).
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
        self = isTooLong || overflows ? .nanoseconds(seconds < 0 ? .min : .max) : .nanoseconds(sum)
    }
}
