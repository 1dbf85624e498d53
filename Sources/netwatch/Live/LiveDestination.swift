import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// The way to one host of `--to`: its name is resolved, and each of its addresses watched.
///
/// Confined to the main thread; what the event thread tells goes through ``Ways``.
final class LiveDestination {
    private let host: Host
    private let engine: MonitorEngine
    private let namespace: NetworkNamespace
    private let wakeup: Wakeup
    private var schedule = ResolutionSchedule()
    private var resolver: HostResolver?
    private var answers = DestinationAnswers()
    private var watches: [IPAddress: DestinationWatch] = [:]
    private let ways: Ways
    private var told: DestinationState?

    init(_ host: Host, _ engine: MonitorEngine, _ namespace: NetworkNamespace, _ wakeup: Wakeup) {
        self.host = host
        self.engine = engine
        self.namespace = namespace
        self.wakeup = wakeup
        ways = .init(wakeup)
        if case .address(let address) = host { watch([address]) }
    }

    /// When to look again though nothing was told; nil for never.
    var deadline: Instant? {
        guard case .name = host else { return nil }
        return schedule.deadline
    }

    /// Notes that the network has changed: a name may have another answer now.
    func noteChange() {
        schedule.noteChange(at: SystemClock.now)
    }

    /// What is known now; nil if that is as it was.
    func news() -> DestinationState? {
        if case .name(let name) = host { resolve(name) }
        let state = answers.state(ways.known, after: told)
        guard state != told else { return nil }
        told = state
        return state
    }

    /// What `netwatch explain HOST` says of it.
    func explanation(_ names: InterfaceNames) -> [String] {
        let known = ways.known
        let lines = answers.addresses.compactMap { known[$0] }.flatMap { DestinationText.lines($0, names: names) }
        guard case .name(let name) = host else { return lines }
        return ["\(name.escapedForTerminal):" + (answers.failure.map { " " + $0 } ?? "")] + lines
    }

    private func resolve(_ name: String) {
        let now = SystemClock.now
        if let answer = resolver?.answer {
            resolver = nil
            take(answer, at: now)
        }
        if schedule.isOverdue(at: now) { answers.fail("no name server answered in time") }
        guard schedule.isDue(at: now) else { return }
        schedule.noteStart(at: now)
        do throws(SystemError) {
            resolver = try .init(name, in: namespace, wakeup: wakeup)
        } catch {
            take(.failed("\(error)"), at: now)
        }
    }

    /// Takes an answer; addresses that were known stay when the name can't be resolved for now.
    private func take(_ answer: HostResolver.Answer, at now: Instant) {
        schedule.noteEnd(hasSucceeded: !answer.addresses.isEmpty, at: now)
        guard case .failed(let why) = answer else { return watch(answer.addresses) }
        answers.fail(why)
    }

    private func watch(_ addresses: [IPAddress]) {
        let change = answers.take(addresses)
        for address in change.gone {
            watches.removeValue(forKey: address)?.cancel()
            ways.forget(address)
        }
        for address in change.new { watches[address] = engine.watch(address, ways.note) }
    }

    /// What the event thread tells of the addresses.
    private final class Ways: Sendable {
        private let paths = Mutex<[IPAddress: DestinationPath]>([:])
        private let wakeup: Wakeup

        init(_ wakeup: Wakeup) { self.wakeup = wakeup }

        /// What was told last of each.
        var known: [IPAddress: DestinationPath] { paths.withLock { $0 } }

        /// Takes what is told of one.
        func note(_ path: DestinationPath) {
            paths.withLock { $0[path.destination] = path }
            wakeup.signal()
        }

        /// One is no longer watched.
        func forget(_ address: IPAddress) { paths.withLock { $0[address] = nil } }
    }
}

/// What the name servers answered for a host, and what that means for its state.
struct DestinationAnswers: Hashable {
    /// The addresses, in the order in which they were told first: servers turn theirs, which says nothing.
    private(set) var addresses: [IPAddress] = []
    /// Why there is no newer answer.
    private(set) var failure: String?

    /// Takes an answer.
    ///
    /// - Returns: Which addresses are no longer among them, and which were not before.
    mutating func take(_ answer: [IPAddress]) -> (gone: [IPAddress], new: [IPAddress]) {
        failure = nil
        let gone = addresses.filter { !answer.contains($0) }
        var new: [IPAddress] = []
        for address in answer where !addresses.contains(address) && !new.contains(address) { new.append(address) }
        addresses = addresses.filter(answer.contains) + new
        return (gone, new)
    }

    /// Notes that there is no answer; addresses that were known stay.
    mutating func fail(_ why: String) { failure = why }

    /// The state.
    ///
    /// - Parameters:
    ///   - known: The ways that are known.
    ///   - before: The state until now; it lasts until the ways to all new addresses are known.
    /// - Returns: The state.
    func state(_ known: [IPAddress: DestinationPath], after before: DestinationState?) -> DestinationState {
        let routes = addresses.compactMap { address in known[address].map(DestinationRoute.init) }
        if case .paths? = before, routes.count < addresses.count { return before ?? .resolving }
        if !routes.isEmpty { return .paths(routes) }
        return failure.map(DestinationState.failed) ?? .resolving
    }
}

extension DestinationRoute {
    /// What the live view shows of a way.
    fileprivate init(_ path: DestinationPath) {
        self.init(to: path.destination, status: path.status, interface: path.interface, reasons: path.reasons)
        guard case .selected(let selection) = path.outcome else { return }
        gateway = selection.nextHop.gateway
        source = selection.nextHop.source
    }
}

/// When a name is resolved: at once, after changes of the network, sooner again while that fails, and now and then.
///
/// One attempt at a time: an answer may take half a minute, and each that is awaited costs a thread.
struct ResolutionSchedule: Hashable {
    /// When the next attempt begins; nil while one goes on.
    private var next: Instant? = .init(nanoseconds: 0)
    /// When the attempt that goes on counts as failed; nil if it does already, or none goes on.
    private var patienceEnd: Instant?
    private var earliest = Instant(nanoseconds: 0)
    private var hasChanged = false
    private var pause = Self.shortestPause

    /// Between two attempts.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// An answer is good for so long: name servers' own times to live are not told.
    private static let refresh = Duration.seconds(300)
    /// How long an answer may take before the user is told.
    private static let patience = Duration.seconds(10)

    /// When to look again.
    var deadline: Instant? { [next, patienceEnd].compactMap(\.self).min() }

    /// Whether an attempt is to begin.
    func isDue(at now: Instant) -> Bool { next.map { $0 <= now } ?? false }

    /// Whether the attempt that goes on has just begun to count as failed.
    mutating func isOverdue(at now: Instant) -> Bool {
        guard let end = patienceEnd, end <= now else { return false }
        patienceEnd = nil
        return true
    }

    /// Notes that an attempt begins.
    mutating func noteStart(at now: Instant) {
        next = nil
        hasChanged = false
        earliest = now.advanced(by: Self.shortestPause)
        patienceEnd = now.advanced(by: Self.patience)
    }

    /// Notes that an attempt has ended.
    mutating func noteEnd(hasSucceeded: Bool, at now: Instant) {
        patienceEnd = nil
        next = now.advanced(by: hasSucceeded ? Self.refresh : pause)
        pause = hasSucceeded ? Self.shortestPause : min(pause * 2, Self.longestPause)
        if hasChanged { noteChange(at: now) }
    }

    /// Notes that the network has changed, which may be what the name server waited for.
    mutating func noteChange(at now: Instant) {
        pause = Self.shortestPause
        guard let planned = next else {
            hasChanged = true
            return
        }
        next = min(planned, max(now, earliest))
    }
}
