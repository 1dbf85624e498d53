import ReachabilityCore

/// How near an interface is to being a way out; the nearest first.
enum LinkCondition: Hashable {
    /// It has a carrier and an address.
    case ready(IPAddress)
    /// Its address is being checked for duplicates.
    case tentative(IPAddress)
    /// Another host has its address.
    case duplicate(AddressMessage)
    /// It gave itself an address, as nobody else did.
    case linkLocal(IPAddress)
    /// It has no address but the link-local one that every IPv6 interface has.
    case noAddress
    /// It is a WiFi one that is joining a network.
    case associating
    /// It waits for an event such as 802.1X.
    case dormant
    /// It has no carrier.
    case noCarrier
    /// It was not set up, or was set down.
    case down

    /// How near it is to work, 0 for what does.
    var distance: Int {
        switch self {
        case .ready: 0
        case .tentative: 1
        case .duplicate: 2
        case .linkLocal: 3
        case .noAddress: 4
        case .associating: 5
        case .dormant: 6
        case .noCarrier: 7
        case .down: 8
        }
    }
}

extension WhyScene {
    /// How an interface stands; of one family's addresses, or of both.
    func condition(of link: Link, _ family: AddressFamily? = nil) -> LinkCondition {
        fault(of: link) ?? addressing(of: link, family)
    }

    /// What keeps an interface from carrying packets; nil if nothing does.
    func fault(of link: Link) -> LinkCondition? {
        guard link.flags.contains(.up) else { return .down }
        let association = snapshot.wireless[link.index].flatMap { $0.isStation ? $0.association : nil }
        let isBarred = association == .associating || association == .disassociated
        if link.canCarry, !isBarred { return nil }
        if association == .associating { return .associating }
        guard link.flags.contains(.lowerUp), !isBarred else { return .noCarrier }
        guard link.operationalState == .dormant || link.flags.contains(.dormant) else { return .noCarrier }
        return kind(link.index) == .wifi ? .associating : .dormant
    }

    /// What an interface's addresses are good for.
    func addressing(of link: Link, _ family: AddressFamily?) -> LinkCondition {
        let all = (snapshot.addresses[link.index] ?? []).filter { family == nil || $0.address.family == family }
        let routable = all.filter { !$0.address.isLinkLocal && !$0.address.isLoopback }
        if let usable = routable.first(where: { $0.isSettled }) { return .ready(usable.address) }
        if let duplicate = routable.first(where: { $0.flags.contains(.duplicate) }) { return .duplicate(duplicate) }
        if let tentative = routable.first { return .tentative(tentative.address) }
        let own = all.first { $0.address.family == .ipv4 && $0.address.isLinkLocal }
        return own.map { .linkLocal($0.address) } ?? .noAddress
    }
}

extension AddressMessage {
    /// Whether packets may be sent from it (RFC 4862, 5.4; RFC 4429).
    fileprivate var isSettled: Bool {
        !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }
}
