/// A network interface, merged from its messages.
package struct Link: Sendable, Hashable {
    /// The kernel's number of the interface.
    package var index: InterfaceIndex
    /// Its name; interfaces are renamed, so the index is what identifies them.
    package var name = ""
    /// `ARPHRD_*`.
    package var hardwareType: HardwareType
    /// `IFF_*`.
    package var flags: LinkFlags
    /// RFC 2863's operational state.
    package var operationalState = OperationalState.unknown
    /// `IFLA_CARRIER`.
    package var carrier: Bool
    /// `IFLA_MTU`, in bytes.
    package var mtu: UInt32 = 0
    /// `IFLA_GROUP`.
    package var group: UInt32 = 0
    /// `IFLA_LINK`, if there is an interface below.
    package var lowerIndex: InterfaceIndex?
    /// The namespace of ``lowerIndex``, if it differs from this one.
    package var lowerNamespace: Int32?
    /// `IFLA_MASTER`, if the interface belongs to another.
    package var masterIndex: InterfaceIndex?
    /// `IFLA_INFO_KIND`.
    package var kind: String?
    /// `IFLA_INFO_SLAVE_KIND`.
    package var portKind: String?
    /// The table of a VRF device.
    package var vrfTable: UInt32?
    /// The port that a bond in active-backup mode uses.
    package var bondActivePort: InterfaceIndex?
    /// Whether a bond looks at its ports, and replaces an active one that has lost its carrier: `miimon` or
    /// `arp_interval` is set (`Documentation/networking/bonding.rst`).
    package var bondReplacesPorts = false
    /// Where a tunnel's packets go, if the kernel keeps that with the link.
    package var tunnelRemote: IPAddress?
    /// The address that a tunnel sends from, if it is given one.
    package var tunnelSource: IPAddress?
    /// The mark of a tunnel's own packets; 0 for none.
    package var tunnelMark: UInt32 = 0
    /// The TOS field of a tunnel's own packets; with bit 0 set, that of the packets inside.
    package var tunnelTOS: UInt8 = 0
    /// Whether this port of a bond carries traffic.
    package var bondPortIsActive: Bool?
    /// IPv6 source selection prefers temporary addresses here (RFC 6724, rule 7).
    package var prefersTemporaryAddresses = false
    /// IPv6 source selection is limited to this interface's own addresses (`use_oif_addrs_only`).
    package var usesOwnAddressesOnly = false
    /// IPv6 source selection treats optimistic addresses as preferred (`use_optimistic`).
    package var usesOptimisticAddresses = false
    /// The bus of the device behind it.
    package var parentBus: String?

    /// Whether the interface was set up and can carry packets now.
    ///
    /// The operational state is up; or the driver does not say, and the flags show no wait for an event. In either case
    /// the driver has a carrier (`IFF_LOWER_UP`): the state follows the loss of that up to a second later (`linkwatch`).
    /// A Wi-Fi monitor interface, whatever its state, sends no IP packets.
    package var canCarry: Bool {
        guard flags.isSuperset(of: [.up, .lowerUp]), !hardwareType.isMonitor else { return false }
        switch operationalState {
        case .up: return true
        case .unknown: return flags.contains(.running) && !flags.contains(.dormant)
        default: return false
        }
    }

    /// Whether the interface stands for a VRF, a routing domain of its own.
    var isVRF: Bool { vrfTable != nil }

    /// Whether a family considers a device that is up to be without carrier.
    ///
    /// IPv4 tests for either flag (`fib_netdev_event`), IPv6 for an operational state (`addrconf_link_ready`).
    func lacksCarrier(_ family: AddressFamily) -> Bool {
        family == .ipv4 ? flags.isDisjoint(with: .carrying) : !flags.contains(.running)
    }

    /// Whether a station in this state would be associating.
    var looksAssociating: Bool {
        // A supplicant that has lost its network may say dormant before the kernel says down, or after.
        guard flags.contains(.lowerUp) else { return operationalState == .unknown && flags.contains(.running) }
        return operationalState == .dormant || flags.contains(.dormant)
    }

    // MARK: Messages

    /// Takes what a message contains; what a partial message does not contain stays as it was.
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

    /// Whether this state of a link is equal to another for the evaluation.
    ///
    /// The MTU and the flags that only packet sniffers and multicast daemons read do not count, nor does the group while
    /// the link is down: the kernel announces a change of it only when the link is set up.
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

    /// Returns whether the kernel has reused this index for a new interface, after a removal that was missed.
    ///
    /// An interface keeps its kind. It may be renamed, which a notification announces; so another name shows another
    /// interface only in a dump. A rename that was missed looks the same: the device is then examined again.
    ///
    /// - Parameters:
    ///   - other: The link that is now reported.
    ///   - isDumped: Whether it comes from a dump.
    /// - Returns: Whether it is.
    func isReplaced(by other: Self, isDumped: Bool) -> Bool {
        kind != other.kind || (isDumped && name != other.name)
    }

    /// Adds the reasons of the difference from an earlier state of the same interface.
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

extension Link {
    /// Makes a link from the first full message about it.
    init(_ message: LinkMessage) {
        self.init(
            index: message.index,
            hardwareType: message.hardwareType,
            flags: message.flags,
            carrier: message.flags.contains(.lowerUp)
        )
        merge(message)
    }
}

extension LinkFlags {
    /// The flags that decide about paths.
    static let evaluated: Self = [.up, .loopback, .pointToPoint, .running, .noARP, .lowerUp, .dormant]
    /// Either means that IPv4 considers the interface to have a carrier (`fib_netdev_event` in `net/ipv4/fib_frontend.c`).
    static let carrying: Self = [.running, .lowerUp]
}
