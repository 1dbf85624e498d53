extension Link {
    /// Makes a link from the first full message about it.
    init(_ message: LinkMessage) {
        self.init(
            index: message.index,
            name: message.name ?? "",
            hardwareType: message.hardwareType,
            flags: message.flags,
            operationalState: message.operationalState ?? .unknown,
            carrier: message.carrier ?? message.flags.contains(.lowerUp),
            mtu: message.mtu ?? 0,
            group: message.group ?? 0,
            prefersTemporaryAddresses: false,
            usesOwnAddressesOnly: false,
            usesOptimisticAddresses: false
        )
        merge(message)
    }

    /// Takes over what a message says; what a partial message does not carry stays as it was.
    mutating func merge(_ message: LinkMessage) {
        hardwareType = message.hardwareType
        flags = message.flags
        if let name = message.name { self.name = name }
        if let mtu = message.mtu { self.mtu = mtu }
        if let group = message.group { self.group = group }
        if let carrier = message.carrier { self.carrier = carrier }
        if let state = message.operationalState { operationalState = state }
        if let bus = message.parentBus { parentBus = bus }
        mergeIPv6Settings(message)
        // A full message without an attribute says that there is none: no master, no interface below.
        if !message.isPartial { replaceRelations(message) }
    }

    /// The kernel leaves these out of messages while the interface has no IPv6 at all.
    private mutating func mergeIPv6Settings(_ message: LinkMessage) {
        if let prefers = message.prefersTemporaryAddresses { prefersTemporaryAddresses = prefers }
        if let uses = message.usesOwnAddressesOnly { usesOwnAddressesOnly = uses }
        if let uses = message.usesOptimisticAddresses { usesOptimisticAddresses = uses }
    }

    private mutating func replaceRelations(_ message: LinkMessage) {
        lowerIndex = message.lowerIndex
        lowerNamespace = message.lowerNamespace
        masterIndex = message.masterIndex
        kind = message.kind
        portKind = message.portKind
        vrfTable = message.vrfTable
        bondActivePort = message.bondActivePort
        bondReplacesPorts = message.bondReplacesPorts
        tunnelRemote = message.tunnelRemote
        tunnelSource = message.tunnelSource
        tunnelMark = message.tunnelMark
        tunnelTOS = message.tunnelTOS
        bondPortIsActive = message.bondPortIsActive
    }

    /// Whether a link is, for the evaluation, as another was.
    ///
    /// The MTU and the flags that only packet sniffers and multicast daemons look at do not count, nor does the group
    /// while the link is down, a change of which the kernel announces only when it is set up.
    func means(_ other: Self) -> Bool {
        var left = self
        if !flags.union(other.flags).contains(.up) { left.group = other.group }
        left.mtu = other.mtu
        left.carrier = other.carrier
        left.flags = flags.intersection(.evaluated)
        var right = other
        right.flags = other.flags.intersection(.evaluated)
        return left == right
    }
}

extension Link {
    /// Notes what tells this from an earlier state of the same interface.
    func noteDifference(from old: Self, _ effect: inout SnapshotEffect) {
        guard !means(old) else { return }
        let isUp = flags.contains(.up)
        if isUp != old.flags.contains(.up) {
            effect.add(isUp ? .linkUp : .linkDown)
            if isUp, canCarry { effect.add(.carrierGained) }
        } else if isUp, canCarry != old.canCarry {
            effect.add(canCarry ? .carrierGained : .carrierLost)
        } else {
            effect.add(.linkChanged)
        }
    }
}

extension LinkFlags {
    /// The flags that decide about paths.
    static let evaluated: Self = [.up, .loopback, .pointToPoint, .running, .noARP, .lowerUp, .dormant]
    /// Either says that IPv4 takes the interface to have a carrier (`fib_netdev_event` in `net/ipv4/fib_frontend.c`).
    static let carrying: Self = [.running, .lowerUp]
}
