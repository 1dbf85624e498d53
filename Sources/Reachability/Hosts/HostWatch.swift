import LinuxSystem
import Locking
import ReachabilityCore

/// Watches the paths to all addresses of a host, whose name it resolves repeatedly.
final class HostWatch: Sendable {
    /// Called with each change and its place in the order of changes; from any thread.
    typealias Report = @Sendable (_ path: HostPath, _ ticket: UInt64) -> Void

    /// Starts to watch an address; the closure is called on the event thread.
    typealias WatchAddress = @Sendable (IPAddress, @escaping @Sendable (DestinationPath) -> Void) -> Subscription

    private let host: String
    private let resolver: NameResolver
    private let watchAddress: WatchAddress
    private let report: Report
    private let state: Lock<State>

    private struct State {
        var host: HostAddresses
        var schedule: ResolutionSchedule
        var watches: [IPAddress: Subscription] = [:]
        var ticket: UInt64 = 0
        var isEnded = false
        /// The resolving of a name, and its sleep until the next attempt.
        var task: Task<Void, Never>?
        var sleep: Task<Void, Never>?
    }

    /// The time after which an attempt to resolve the name counts as failed.
    private static let attemptTimeout = Duration.seconds(10)

    /// Creates a watch that has not begun.
    ///
    /// - Parameters:
    ///   - host: An address or a name.
    ///   - resolver: Resolves the name.
    ///   - watchAddress: Watches the path to one address.
    ///   - report: Receives the changes.
    init(_ host: String, _ resolver: NameResolver, watchAddress: @escaping WatchAddress, report: @escaping Report) {
        self.host = host
        self.resolver = resolver
        self.watchAddress = watchAddress
        self.report = report
        state = .init(.init(host: .init(host: host), schedule: .init(at: SystemClock.now)))
    }

    /// Begins to watch.
    func start() {
        if let address = IPAddress(host) { return take([address]) }
        let task = Task.detached { await self.run() }
        let isEnded = state.withLock { state in
            state.task = task
            return state.isEnded
        }
        if isEnded { task.cancel() }
    }

    /// Ends the watch; a call of the closure may be under way on another thread.
    func end() {
        let (task, sleep, watches) = state.withLock { state in
            state.isEnded = true
            defer { state.watches = [:] }
            return (state.task, state.sleep, state.watches)
        }
        task?.cancel()
        sleep?.cancel()
        for watch in watches.values { watch.cancel() }
    }

    /// Notes that the network has changed: the name is resolved again soon.
    func noteNetworkChange() {
        let sleep = state.withLock { state in
            state.schedule.noteNetworkChange(at: SystemClock.now)
            return state.sleep
        }
        sleep?.cancel()
    }

    private func run() async {
        while !Task.isCancelled {
            if await sleepUntilDue() { continue }
            state.withLock { $0.schedule.begin(at: SystemClock.now) }
            do throws(ReachabilityError) {
                take(try await resolver.addresses(of: host, within: Self.attemptTimeout))
            } catch {
                if error.code == .cancelled { return }
                fail(error)
            }
        }
    }

    /// Sleeps until the next attempt, or a change of the network.
    ///
    /// - Returns: Whether it slept; if not, an attempt is due.
    private func sleepUntilDue() async -> Bool {
        let now = SystemClock.now
        let sleep: Task<Void, Never>? = state.withLock { state in
            guard !state.isEnded, !state.schedule.isDue(at: now), let next = state.schedule.next else { return nil }
            let sleep = Task { _ = try? await Task.sleep(for: now.duration(to: next)) }
            state.sleep = sleep
            return sleep
        }
        await sleep?.value
        return sleep != nil
    }

    private func fail(_ error: ReachabilityError) {
        publish { state in
            state.host.fail(error)
            state.schedule.end(hasSucceeded: false, at: SystemClock.now)
        }
    }

    private func take(_ addresses: [IPAddress]) {
        let (gone, new) = state.withLock { state in
            state.schedule.end(hasSucceeded: true, at: SystemClock.now)
            let (gone, new) = state.host.resolve(to: addresses)
            return (gone.compactMap { state.watches.removeValue(forKey: $0) }, new)
        }
        for watch in gone { watch.cancel() }
        for address in new { watch(address) }
        publish { _ in }
    }

    private func watch(_ address: IPAddress) {
        let watch = watchAddress(address) { [weak self] path in self?.publish { $0.host.update(path) } }
        let isEnded = state.withLock { state in
            if !state.isEnded { state.watches[address] = watch }
            return state.isEnded
        }
        if isEnded { watch.cancel() }
    }

    /// Changes the state, and reports what has changed for the subscriber.
    private func publish(_ change: (inout State) -> Void) {
        let value: (HostPath, UInt64)? = state.withLock { state in
            change(&state)
            guard !state.isEnded, let path = state.host.takeChange() else { return nil }
            state.ticket += 1
            return (path, state.ticket)
        }
        if let (path, ticket) = value { report(path, ticket) }
    }
}
