import NetworkLab
import ReachabilityCore

/// A namespace whose announcements are followed by a model, to be held against what the kernel lists.
final class ModelLab {
    let lab: LabNamespace
    /// The model that the announcements make.
    private(set) var snapshot = NetworkSnapshot()
    /// What the announcements since the last ``forget()`` changed.
    private(set) var effect = SnapshotEffect()
    /// The announcements since the last ``forget()``.
    private(set) var log: [(NetlinkHeader, KernelEvent)] = []
    private let events: LabEvents

    /// What routes and nexthop objects depend on.
    static let groundwork: [DumpSubject] = [
        .links, .netconf(.ipv4), .netconf(.ipv6), .addresses(.ipv4), .addresses(.ipv6), .rules(.ipv4), .rules(.ipv6),
    ]
    /// The routes of all tables.
    static let routes: [DumpSubject] = [.routes(.ipv4, table: nil), .routes(.ipv6, table: nil)]
    /// Every table that the model mirrors, in an order of reading.
    static let subjects: [DumpSubject] = groundwork + [.nexthops] + routes

    /// Listens, then reads what is there.
    init() throws {
        lab = try LabNamespace()
        // Without these, addresses come and change by themselves, seconds later.
        try lab.setSysctl("net.ipv6.conf.default.addr_gen_mode", to: 1)
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        events = try LabEvents(in: lab)
        snapshot = try listed()
    }

    var rtnl: Rtnl { lab.rtnl }

    /// The model that the kernel's lists make now.
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

    /// Takes what was announced into the model; waits up to a limit for the first.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    func follow(within limit: Duration = .zero) throws -> Bool {
        let messages = try events.pendingMessages(within: limit)
        for message in messages {
            let (header, event) = try message.decoded()
            log.append((header, event))
            effect.merge(snapshot.apply(event, header, at: .init(nanoseconds: 0)))
        }
        for subject in effect.takeStaleSubjects() { try read(subject) }
        return !messages.isEmpty
    }

    /// Loses what was announced, as an overrun does.
    func loseAnnouncements() throws { _ = try events.pendingMessages() }

    /// Reads tables while something else may change them, and takes them all at once.
    ///
    /// - Parameters:
    ///   - subjects: The tables, in the order of reading.
    ///   - meanwhile: Called before, between and after the readings; it says whether announcements are to be heard now
    ///     or later.
    /// - Returns: What the commit changed; its doubts have been resolved.
    /// - Throws: What the kernel refuses, and what the closure throws.
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
        var committed = assembly.commit(to: &snapshot)
        for subject in committed.takeStaleSubjects() + effect.takeStaleSubjects() { try read(subject) }
        return committed
    }

    private func follow(noting assembly: inout DumpAssembly) throws {
        for message in try events.pendingMessages() {
            let (header, event) = try message.decoded()
            assembly.note(event, header, at: .init(nanoseconds: 0))
            effect.merge(snapshot.apply(event, header, at: .init(nanoseconds: 0)))
        }
    }

    /// Reads a table again, into the model.
    func read(_ subject: DumpSubject) throws {
        var assembly = DumpAssembly()
        assembly.begin(subject)
        for message in try rtnl.messages(of: subject) {
            let (header, event) = try message.decoded()
            assembly.take(event, header, of: subject, at: .init(nanoseconds: 0))
        }
        effect.merge(assembly.commit(to: &snapshot, keepsMissing: true))
    }

    /// Forgets the announcements and effects so far.
    func forget() {
        log = []
        effect = .init()
    }

    /// What tells the model from the kernel's lists; empty if nothing does.
    ///
    /// What the kernel announces late (the loss of a carrier, for one) is waited for before a difference is believed.
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
    /// What taking the kernel's lists over the model changes, though they tell what it knows already.
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

    /// What tells the model from the kernel's IPv6 routes, those included that a dump leaves out.
    private func hiddenDifferences() throws -> [String] {
        let expected = IPv6RouteFile.expected(of: snapshot)
        let listed = try IPv6RouteFile.listed(in: lab)
        guard expected != listed else { return [] }
        let difference = listed.difference(from: expected)
        return ["every next hop of IPv6:"] + difference.map { "  \($0)" }
    }
}

extension RtnlMessage {
    /// The head, and what the project's decoder makes of the rest.
    func decoded() throws -> (NetlinkHeader, KernelEvent) {
        var result: (NetlinkHeader, KernelEvent)?
        try NetlinkDecoder().decode(bytes.span.bytes) { result = ($0, $1) }
        guard let result else { throw LabError("decode a message of type \(type)", errno: 61) }
        return result
    }
}
