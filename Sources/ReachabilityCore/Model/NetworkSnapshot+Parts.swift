/// The parts of a model that can be read from the kernel one by one.
extension NetworkSnapshot {
    /// Replaces a part by what was read of it.
    mutating func lay(_ reading: DumpReading) {
        adopt(reading.subject, from: .init())
        // Answers come in order, whatever the flags that they were given.
        let header = NetlinkHeader(length: 0, type: 0, flags: .multi, sequence: 0, port: 0)
        for answer in reading.answers { apply(answer.event, header, at: answer.time) }
    }

    /// Replaces a part by that of another model.
    mutating func adopt(_ subject: DumpSubject, from other: Self) {
        switch subject {
        case .links: links = other.links
        case .addresses(let family): adoptAddresses(family, from: other)
        case .routes(let family, let table):
            adoptEntries(\.routes, from: other) { $0.family == family && (table == nil || $0.table == table) }
        case .rules(.ipv4): ipv4Rules = other.ipv4Rules
        case .rules(.ipv6): ipv6Rules = other.ipv6Rules
        case .nexthops: nexthops = other.nexthops
        case .neighbours(let family, let interface):
            adoptEntries(\.neighbours, from: other) {
                $0.address.family == family && (interface == nil || $0.index == interface)
            }
        case .netconf(let family): adoptEntries(\.settings, from: other) { $0.family == family }
        }
    }

    private mutating func adoptEntries<Key: Hashable, Value>(
        _ part: WritableKeyPath<Self, [Key: Value]>,
        from other: Self,
        where belongs: (Key) -> Bool
    ) {
        self[keyPath: part] = self[keyPath: part].filter { !belongs($0.key) }
        for (key, value) in other[keyPath: part] where belongs(key) { self[keyPath: part][key] = value }
    }

    private mutating func adoptAddresses(_ family: AddressFamily, from other: Self) {
        for index in Set(addresses.keys).union(other.addresses.keys) {
            let kept = (addresses[index] ?? []).filter { $0.address.family != family }
            let taken = (other.addresses[index] ?? []).filter { $0.address.family == family }
            let whole = family == .ipv4 ? taken + kept : kept + taken
            addresses[index] = whole.isEmpty ? nil : whole
        }
    }

    /// Puts back the routes of a part that another model has and this one lacks.
    mutating func restore(_ subject: DumpSubject, from other: Self) {
        guard case .routes(let family, let table) = subject else { return }
        for (key, known) in other.routes where key.family == family && (table == nil || key.table == table) {
            let read = routes[key] ?? []
            guard known.contains(where: { route in !read.contains { $0.isKnown(as: route) } }) else { continue }
            // The known order is the right one; what was read renews it and adds to it.
            var whole = known
            for route in read { whole.renew(route) }
            routes[key] = whole
        }
    }
}

extension Route {
    /// Whether the kernel takes this for the same route as another one of the same table.
    func isKnown(as other: Self) -> Bool {
        guard !message.precedes(other.message), !other.message.precedes(message) else { return false }
        return message.family == .ipv4 ? message.isSameIPv4(other.message) : message.isSameIPv6(other.message)
    }
}

extension [Route] {
    /// Renews a known route in its place, or puts in a new one behind its group.
    fileprivate mutating func renew(_ route: Route) {
        if let known = firstIndex(where: { $0.isKnown(as: route) }) {
            self[known] = route
        } else {
            insert(route, at: group(of: route.message).upperBound)
        }
    }
}
