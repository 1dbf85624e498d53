/// The net difference between two models.
extension NetworkSnapshot {
    /// Notes what tells this model from an earlier one, for the evaluation.
    func noteDifferences(from old: Self, _ effect: inout SnapshotEffect) {
        noteLinks(old, &effect)
        for index in Set(addresses.keys).union(old.addresses.keys).sorted() {
            noteAddresses(addresses[index] ?? [], old.addresses[index] ?? [], &effect)
        }
        for key in Set(routes.keys).union(old.routes.keys).sorted() {
            noteRoutes(routes[key] ?? [], old.routes[key] ?? [], &effect)
        }
        if ipv4Rules != old.ipv4Rules || ipv6Rules != old.ipv6Rules { effect.add(.ruleChanged) }
        if nexthops != old.nexthops { effect.add(.nexthopChanged) }
        if neighbours != old.neighbours { effect.add(.neighbourChanged) }
        if decidingSettings != old.decidingSettings { effect.add(.settingChanged) }
    }

    /// The settings that are not the kernel's own, and of interfaces that there are.
    private var decidingSettings: [SettingsKey: InterfaceSettings] {
        settings.filter { $0.value != .init() && $0.key.index != NetconfMessage.defaultInterface }
    }

    private func noteLinks(_ old: Self, _ effect: inout SnapshotEffect) {
        for link in links {
            guard let before = old.link(link.index) else {
                effect.add(.linkAdded)
                continue
            }
            link.noteDifference(from: before, &effect)
        }
        if old.links.contains(where: { linkPosition($0.index) == nil }) { effect.add(.linkRemoved) }
    }

    private func noteAddresses(_ new: [AddressMessage], _ old: [AddressMessage], _ effect: inout SnapshotEffect) {
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

    private func noteRoutes(_ new: [Route], _ old: [Route], _ effect: inout SnapshotEffect) {
        for route in new {
            guard let before = old.first(where: { $0.isKnown(as: route) }) else {
                effect.add(.routeAdded)
                continue
            }
            if !before.means(route) { effect.add(.routeReplaced) }
        }
        if old.contains(where: { route in !new.contains { $0.isKnown(as: route) } }) { effect.add(.routeRemoved) }
        let kept = new.filter { route in old.contains { $0.isKnown(as: route) } }
        let before = old.filter { route in new.contains { $0.isKnown(as: route) } }
        if !zip(kept, before).allSatisfy({ $0.isKnown(as: $1) }) { effect.add(.routeReplaced) }
    }
}
