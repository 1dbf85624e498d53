/// The replacement of parts of a model by what was read of them, and what follows from it for the other parts.
struct SnapshotMerge {
    private let old: NetworkSnapshot
    private var result: NetworkSnapshot
    private var subjects: [DumpSubject] = []

    /// Begins with a model, which stays as it is.
    init(into snapshot: NetworkSnapshot) {
        old = snapshot
        result = snapshot
    }

    // MARK: Parts

    /// Replaces a part of a model by a dump of it.
    static func replace(_ reading: DumpReading, in snapshot: inout NetworkSnapshot) {
        replace(reading.subject, of: &snapshot, from: .init())
        // The entries are in order, whatever their flags say.
        let header = NetlinkHeader(length: 0, type: 0, flags: .multi, sequence: 0, port: 0)
        for entry in reading.entries { snapshot.apply(entry.event, header, at: entry.time) }
    }

    private static func replace(
        _ subject: DumpSubject,
        of snapshot: inout NetworkSnapshot,
        from other: NetworkSnapshot
    ) {
        switch subject {
        case .links: snapshot.links = other.links
        case .addresses(let family): replaceAddresses(family, of: &snapshot, from: other)
        case .routes(let family, let table): snapshot.routes.adopt(family, table, from: other.routes)
        case .rules(.ipv4): snapshot.ipv4Rules = other.ipv4Rules
        case .rules(.ipv6): snapshot.ipv6Rules = other.ipv6Rules
        case .nexthops: snapshot.nexthops = other.nexthops
        case .neighbours(let family, let interface):
            replaceEntries(of: &snapshot.neighbours, from: other.neighbours) {
                $0.address.family == family && (interface == nil || $0.index == interface)
            }
        case .netconf(let family):
            replaceEntries(of: &snapshot.settings, from: other.settings) { $0.family == family }
        }
    }

    private static func replaceEntries<Key: Hashable, Value>(
        of entries: inout [Key: Value],
        from other: [Key: Value],
        where isCovered: (Key) -> Bool
    ) {
        entries = entries.filter { !isCovered($0.key) }
        for (key, value) in other where isCovered(key) { entries[key] = value }
    }

    private static func replaceAddresses(
        _ family: AddressFamily,
        of snapshot: inout NetworkSnapshot,
        from other: NetworkSnapshot
    ) {
        for index in Set(snapshot.addresses.keys).union(other.addresses.keys) {
            let kept = (snapshot.addresses[index] ?? []).filter { $0.address.family != family }
            let taken = (other.addresses[index] ?? []).filter { $0.address.family == family }
            let whole = family == .ipv4 ? taken + kept : kept + taken
            snapshot.addresses[index] = whole.isEmpty ? nil : whole
        }
    }

    /// Replaces parts by those of a model into which they were read.
    ///
    /// - Parameters:
    ///   - subjects: The parts.
    ///   - other: The other model.
    ///   - keepsMissing: Whether routes that it lacks are kept.
    mutating func adopt(_ subjects: [DumpSubject], from other: NetworkSnapshot, keepsMissing: Bool) {
        self.subjects = subjects
        for subject in subjects {
            Self.replace(subject, of: &result, from: other)
            guard keepsMissing, case .routes(let family, let table) = subject else { continue }
            result.routes.restore(family, table, from: old.routes)
        }
        result.routes.adoptExpired(from: other.routes)
    }

    /// Returns the model, with all parts in line with each other.
    ///
    /// - Parameter effect: Takes the net difference, and the tables that were not read and were changed by prediction.
    /// - Returns: The model.
    mutating func finish(_ effect: inout SnapshotEffect) -> NetworkSnapshot {
        reconcile(&effect)
        settleNextHops()
        settleRules()
        noteDifferences(&effect)
        return result
    }

    // MARK: What follows for the other parts

    /// Brings the other parts in line with links, addresses and nexthop objects that are gone or down.
    private mutating func reconcile(_ effect: inout SnapshotEffect) {
        let known = result
        // The reasons are those of the net difference, in the end.
        var followed = SnapshotEffect()
        if subjects.contains(.links) { reconcileLinks(&followed) }
        for family in AddressFamily.allCases where subjects.contains(.addresses(family)) {
            reconcileAddresses(family, &followed)
        }
        if subjects.contains(.nexthops) {
            let gone = old.nexthops.keys.filter { result.nexthops[$0] == nil }
            if !gone.isEmpty { result.routes.removeRoutes(through: gone, &followed) }
        }
        for subject in subjects { Self.replace(subject, of: &result, from: known) }
        for key in followed.predictions where !wasRead(key) { effect.predict(key) }
    }

    private func wasRead(_ key: RouteTableKey) -> Bool {
        subjects.contains(.routes(key.family, table: key.table)) || subjects.contains(.routes(key.family, table: nil))
    }

    private mutating func reconcileLinks(_ effect: inout SnapshotEffect) {
        for link in old.links where result.linkPosition(link.index) == nil {
            result.removeEverything(of: link, &effect)
        }
        for link in result.links {
            let former = old.link(link.index)
            if let former, former.isReplaced(by: link, isDumped: true) { result.devices.removeDevice(replacedBy: link) }
            if !link.flags.contains(.up) { result.routes.removeRoutes(leaving: link.index, .down, &effect) }
            if link.flags.isDisjoint(with: .carrying) { result.removeNexthops(leaving: link.index, &effect) }
            if former?.name != link.name { result.renameInRules(from: nil, to: link.name, &effect) }
        }
    }

    private mutating func reconcileAddresses(_ family: AddressFamily, _ effect: inout SnapshotEffect) {
        for (index, list) in old.addresses {
            for address in list where address.address.family == family {
                let exists = result.addresses[index]?.contains { $0.isSame(address) } ?? false
                if !exists { result.followRemoval(of: address.address, from: index, &effect) }
            }
        }
    }

    /// Brings `RTNH_F_DEAD` of all next hops in line with the devices, after tables were read at different moments.
    ///
    /// A device that is down has dead next hops. One that is up has none, unless it has no IPv4 address
    /// (`fib_sync_up`), or is not ready for IPv6 yet (`addrconf_link_ready`): then the kernel's flag is used, or what the
    /// model had before where the flag is ambiguous.
    private mutating func settleNextHops() {
        for key in result.routes.keys.sorted() {
            for position in (result.routes[key] ?? []).indices { settleNextHops(of: position, in: key) }
        }
    }

    private mutating func settleNextHops(of position: Int, in key: RouteTableKey) {
        guard let route = result.routes[key]?[position], route.message.nexthopID == nil else { return }
        for (number, nextHop) in route.message.nextHops.enumerated() {
            guard let link = result.link(nextHop.interface) else { continue }
            let isReady =
                key.family == .ipv4 ? result.hasIPv4Address(nextHop.interface) : link.flags.contains(.running)
            if !link.flags.contains(.up), key.family == .ipv6 || route.message.scope != .host {
                result.routes[key]?[position].message.nextHops[number].flags.insert(.dead)
            } else if isReady {
                result.routes[key]?[position].message.nextHops[number].flags.remove(.dead)
            } else if result.hasAmbiguousDeath(nextHop, key.family),
                let before = old.routes[key]?.first(where: route.isKnown)
            {
                result.routes[key]?[position].message.nextHops[number].flags = before.message.nextHops[number].flags
            }
        }
    }

    private mutating func settleRules() {
        let names = Set(result.links.map(\.name))
        guard !names.isEmpty else { return }
        result.ipv4Rules.settle(names)
        result.ipv6Rules.settle(names)
    }

    // MARK: The net difference

    private func noteDifferences(_ effect: inout SnapshotEffect) {
        noteLinks(&effect)
        for index in Set(result.addresses.keys).union(old.addresses.keys).sorted() {
            Self.noteAddresses(result.addresses[index] ?? [], old.addresses[index] ?? [], &effect)
        }
        result.routes.noteDifferences(from: old.routes, &effect)
        if result.ipv4Rules != old.ipv4Rules || result.ipv6Rules != old.ipv6Rules { effect.add(.ruleChanged) }
        if result.nexthops != old.nexthops { effect.add(.nexthopChanged) }
        if result.neighbours != old.neighbours { effect.add(.neighbourChanged) }
        if Self.decidingSettings(of: result) != Self.decidingSettings(of: old) { effect.add(.settingChanged) }
    }

    /// Returns the settings that are not the kernel's defaults, of interfaces that exist.
    private static func decidingSettings(of snapshot: NetworkSnapshot) -> [SettingsKey: InterfaceSettings] {
        snapshot.settings.filter { $0.value != .init() && $0.key.index != NetconfMessage.defaultInterface }
    }

    private func noteLinks(_ effect: inout SnapshotEffect) {
        for link in result.links {
            guard let before = old.link(link.index) else {
                effect.add(.linkAdded)
                continue
            }
            link.noteDifference(from: before, &effect)
        }
        if old.links.contains(where: { result.linkPosition($0.index) == nil }) { effect.add(.linkRemoved) }
    }

    private static func noteAddresses(
        _ new: [AddressMessage],
        _ old: [AddressMessage],
        _ effect: inout SnapshotEffect
    ) {
        for address in new {
            guard let before = old.first(where: { $0.isSame(address) }) else {
                effect.add(.addressAdded)
                continue
            }
            address.noteDifference(from: before, &effect)
        }
        if old.contains(where: { address in !new.contains { $0.isSame(address) } }) { effect.add(.addressRemoved) }
        let kept = new.filter { address in old.contains { $0.isSame(address) } }
        let before = old.filter { address in new.contains { $0.isSame(address) } }
        if !zip(kept, before).allSatisfy({ $0.isSame($1) }) { effect.add(.addressChanged) }
    }
}
