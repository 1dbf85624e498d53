import LinuxSystem
import ReachabilityCore

/// Looks up destinations: those that callers ask for, and those that are watched, again after each change.
///
/// Confined to the event thread, except while it is created.
final class DestinationService {
    private let machine: ConfinedMachine
    private let registry: WatchRegistry
    private let lookups: LookupSocket
    private let evaluator: PathEvaluator
    private let user: UInt32
    /// The watched addresses, whose own routes are to be received.
    private(set) var addresses: Set<IPAddress> = []
    private var entries: [WatchRegistry.Entry] = []
    /// The paths that were reported last.
    private var reported: [UInt64: DestinationPath] = [:]
    private var pacing = WatchPacing()
    /// The registry's version that `entries` are of.
    private var version: UInt64 = 0
    /// The machine's revision, and the receiver's count of datagrams, after which the paths were looked up.
    private var revision: UInt64 = 0
    private var eventDatagrams: UInt64 = 0

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - machine: The model of the machine's network.
    ///   - registry: The watched destinations.
    ///   - lookups: The socket to look up with.
    ///   - context: The user whose sockets are evaluated, and the rules for kinds of interfaces.
    init(_ machine: ConfinedMachine, _ registry: WatchRegistry, _ lookups: LookupSocket, _ context: EvaluationContext) {
        self.machine = machine
        self.registry = registry
        self.lookups = lookups
        evaluator = .init(context: context)
        user = context.user
        _ = refresh()
    }

    /// The path of a socket that may only use paths which meet a requirement.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: The requirement.
    /// - Returns: The path, with the interface to bind to; or that the kernel does not reply.
    func path(to destination: IPAddress, meeting requirement: PathRequirement) -> EngineResult<DestinationPath> {
        do throws(NetlinkError) {
            return .success(try findPath(to: destination, meeting: requirement))
        } catch {
            return .failure(.init(error))
        }
    }

    private func findPath(
        to destination: IPAddress,
        meeting requirement: PathRequirement
    ) throws(NetlinkError) -> DestinationPath {
        let now = SystemClock.now
        let replies = try lookups.resolve([ProbeFlow(to: destination, user: user)])
        guard let reply = replies.first else { throw NetlinkError("RTM_GETROUTE", errno: 0) }
        let unbound = path(to: destination, reply, at: now)
        guard requirement != .any, !unbound.staysOnThisMachine else { return unbound }
        let (interfaces, ruledOut) = machine.with { evaluator.candidates(for: requirement, in: $0.snapshot, at: now) }
        let flows = interfaces.map { ProbeFlow(to: destination, user: user, boundTo: $0.index) }
        let bound = zip(interfaces, try lookups.resolveBound(flows)).map { interface, reply in
            BoundPath(interface, reply, path(to: destination, reply, at: now))
        }
        return RequiredPath(requirement: requirement, unbound: unbound, bound: bound, ruledOut: ruledOut).choice
    }

    private func path(to destination: IPAddress, _ reply: ProbeResult, at now: Instant) -> DestinationPath {
        machine.with { .init(destination, reply, evaluator, $0.snapshot, at: now) }
    }
}

// MARK: - Watched destinations

extension DestinationService {
    /// When to look up the watched destinations though nothing is received; nil for never.
    var deadline: Instant? { pacing.isStale && !entries.isEmpty ? pacing.next : nil }

    /// Takes over the registry's entries.
    ///
    /// - Returns: Whether they have changed.
    func refresh() -> Bool {
        let version = registry.version
        guard version != self.version else { return false }
        self.version = version
        entries = registry.entries
        addresses = Set(entries.flatMap(\.destinations))
        let identifiers = Set(entries.map(\.id))
        reported = reported.filter { identifiers.contains($0.key) }
        pacing.restart()
        return true
    }

    /// Looks up the watched destinations if something has changed that may matter to them, and reports what is new.
    ///
    /// - Parameter eventDatagrams: The receiver's count of datagrams.
    func serve(eventDatagrams: UInt64) {
        noteChanges(eventDatagrams)
        // Before the first evaluation the links that carry the paths are not known.
        guard !entries.isEmpty, pacing.isStale, machine.with({ $0.evaluation != nil }) else { return }
        let now = SystemClock.now
        guard pacing.begin(at: now) else { return }
        let entries = entries
        do throws(NetlinkError) {
            report(try lookups.resolve(entries.compactMap { $0.flow(of: user) }), to: entries, at: now)
        } catch {
            pacing.invalidate()
            machine.with { $0.failed(at: now) }
        }
    }

    /// Reports a last change to the watches of any change: nothing is known any more.
    func end() {
        for entry in entries where registry.contains(entry.id) {
            if case .change(let body) = entry.interest { body() }
        }
    }

    private func noteChanges(_ eventDatagrams: UInt64) {
        let revision = machine.with { $0.revision }
        if revision != self.revision || eventDatagrams != self.eventDatagrams { pacing.invalidate() }
        self.revision = revision
        self.eventDatagrams = eventDatagrams
    }

    private func report(_ replies: [ProbeResult], to entries: [WatchRegistry.Entry], at now: Instant) {
        var replies = replies[...]
        for entry in entries {
            switch entry.interest {
            case .path(let body):
                guard let destination = entry.destinations.first, let reply = replies.popFirst() else { continue }
                let path = path(to: destination, reply, at: now)
                guard reported[entry.id] != path, registry.contains(entry.id) else { continue }
                reported[entry.id] = path
                body(path)
            case .change(let body): if registry.contains(entry.id) { body() }
            }
        }
    }
}

extension WatchRegistry.Entry {
    /// The flow to look up; nil if the path is not wanted.
    fileprivate func flow(of user: UInt32) -> ProbeFlow? {
        guard case .path = interest, let destination = destinations.first else { return nil }
        return ProbeFlow(to: destination, user: user)
    }
}
