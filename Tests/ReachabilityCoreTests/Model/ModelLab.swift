import NetworkLab
import ReachabilityCore

/// A namespace whose notifications a model follows, to be compared with the kernel's dumps.
final class ModelLab {
    let lab: LabNamespace
    /// The model by the notifications.
    private(set) var snapshot = NetworkSnapshot()
    /// The reasons of the changes since the last ``forget()``.
    private(set) var reasons: Set<ReachabilityReason> = []
    /// The tables that were changed by prediction since then.
    private(set) var predictions: Set<RouteTableKey> = []
    private var staleSubjects: [DumpSubject] = []
    /// The notifications since the last ``forget()``.
    private(set) var log: [(NetlinkHeader, KernelEvent)] = []
    private let events: LabEvents

    /// The tables on which routes and nexthop objects depend.
    static let prerequisites: [DumpSubject] = [
        .links, .netconf(.ipv4), .netconf(.ipv6), .addresses(.ipv4), .addresses(.ipv6), .rules(.ipv4), .rules(.ipv6),
    ]
    /// The routes of all tables.
    static let routes: [DumpSubject] = [.routes(.ipv4, table: nil), .routes(.ipv6, table: nil)]
    /// Every table that the model mirrors, in an order in which they can be read.
    static let subjects: [DumpSubject] = prerequisites + [.nexthops] + routes

    /// Subscribes, then reads all tables.
    init() throws {
        lab = try LabNamespace()
        // Otherwise addresses appear and change by themselves, seconds later.
        try lab.setSysctl("net.ipv6.conf.default.addr_gen_mode", to: 1)
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        events = try LabEvents(in: lab)
        snapshot = try listed()
    }

    var rtnl: Rtnl { lab.rtnl }

    /// A model by the kernel's current dumps.
    func listed() throws -> NetworkSnapshot { try model(of: lists()) }

    private func lists() throws -> [RtnlMessage] {
        try Self.subjects.flatMap { try rtnl.messages(of: $0) }
    }

    private func model(of messages: [RtnlMessage]) throws -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        for message in messages {
            let (header, event) = try message.decoded()
            snapshot.apply(event, header, at: .init(nanoseconds: 0))
        }
        return snapshot
    }

    /// Applies the received notifications to the model; waits up to a limit for the first.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    func follow(within limit: Duration = .zero) throws -> Bool {
        let messages = try events.pendingMessages(within: limit)
        for message in messages {
            let (header, event) = try message.decoded()
            log.append((header, event))
            note(snapshot.apply(event, header, at: .init(nanoseconds: 0)))
        }
        for subject in takeStaleSubjects() { try read(subject) }
        return !messages.isEmpty
    }

    /// Drops the received notifications, as an overrun does.
    func loseAnnouncements() throws { _ = try events.pendingMessages() }

    /// Reads tables while something else may change them, and commits them together.
    ///
    /// - Parameters:
    ///   - subjects: The tables, in the order in which they are read.
    ///   - meanwhile: Called before, between and after the dumps; it returns whether notifications are received now or
    ///     later.
    /// - Returns: The effect of the commit; stale tables have been read again.
    /// - Throws: The kernel's errors, and those of the closure.
    func assemble(_ subjects: [DumpSubject], meanwhile: () throws -> Bool) throws -> SnapshotEffect {
        var assembly = DumpAssembly()
        for subject in subjects {
            assembly.begin(subject)
            if try meanwhile() { try follow(noting: &assembly) }
            for message in try rtnl.messages(of: subject) {
                let (header, event) = try message.decoded()
                assembly.take(event, header, of: subject, at: .init(nanoseconds: 0))
            }
            if try meanwhile() { try follow(noting: &assembly) }
        }
        try follow(noting: &assembly)
        let committed = assembly.commit(to: &snapshot)
        for subject in committed.staleSubjects + takeStaleSubjects() { try read(subject) }
        return committed
    }

    private func follow(noting assembly: inout DumpAssembly) throws {
        for message in try events.pendingMessages() {
            let (header, event) = try message.decoded()
            assembly.note(event, header, at: .init(nanoseconds: 0))
            note(snapshot.apply(event, header, at: .init(nanoseconds: 0)))
        }
    }

    /// Reads a table into the model again.
    func read(_ subject: DumpSubject) throws {
        var assembly = DumpAssembly()
        assembly.begin(subject)
        for message in try rtnl.messages(of: subject) {
            let (header, event) = try message.decoded()
            assembly.take(event, header, of: subject, at: .init(nanoseconds: 0))
        }
        note(assembly.commit(to: &snapshot, keepsMissing: true))
    }

    /// Forgets the notifications and effects so far.
    func forget() {
        (log, reasons, predictions, staleSubjects) = ([], [], [], [])
    }

    private func note(_ effect: SnapshotEffect) {
        reasons.formUnion(effect.reasons)
        predictions.formUnion(effect.predictions)
        for subject in effect.staleSubjects where !staleSubjects.contains(subject) { staleSubjects.append(subject) }
    }

    private func takeStaleSubjects() -> [DumpSubject] {
        defer { staleSubjects = [] }
        return staleSubjects
    }

    /// The differences between the model and the kernel's dumps; empty if there are none.
    ///
    /// Waits for late notifications (of a lost carrier, for one) before it reports a difference.
    func differences() throws -> [String] {
        try follow()
        while true {
            let lists = try lists()
            if try follow() { continue }
            var differences = try ModelImage(snapshot).differences(from: .init(model(of: lists)))
            differences += try hiddenDifferences()
            if differences.isEmpty { differences = try changes(repeating: lists) }
            if differences.isEmpty { return [] }
            guard try follow(within: .milliseconds(1500)) else { return differences }
        }
    }
}

extension ModelLab {
    /// The effect of committing the kernel's dumps to a model that already has their contents.
    private func changes(repeating messages: [RtnlMessage]) throws -> [String] {
        var again = snapshot
        var changes: [String] = []
        for message in messages {
            let (header, event) = try message.decoded()
            let effect = again.apply(event, header, at: .init(nanoseconds: 0))
            if effect.changed { changes.append("repeated: \(effect.reasons) by \(event)") }
        }
        return changes + ModelImage(again).differences(from: .init(snapshot))
    }

    /// The differences between the model and the kernel's IPv6 routes, including those that a dump omits.
    private func hiddenDifferences() throws -> [String] {
        let expected = IPv6RouteFile.expected(of: snapshot)
        let listed = try IPv6RouteFile.listed(in: lab)
        guard expected != listed else { return [] }
        let difference = listed.difference(from: expected)
        return ["every next hop of IPv6:"] + difference.map { "  \($0)" }
    }
}

extension RtnlMessage {
    /// The header and the decoded event.
    func decoded() throws -> (NetlinkHeader, KernelEvent) {
        var result: (NetlinkHeader, KernelEvent)?
        try NetlinkDecoder().decode(bytes.span.bytes) { result = ($0, $1) }
        guard let result else { throw LabError("decode a message of type \(type)", errno: 61) }
        return result
    }
}
