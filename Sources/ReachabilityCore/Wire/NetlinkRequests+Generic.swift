/// The requests to generic netlink's families. None needs privilege but WireGuard's.
extension NetlinkRequests {
    /// All families that the kernel has (`CTRL_CMD_GETFAMILY`): each a ``KernelEvent/family(_:)``.
    ///
    /// Never one by its name: for a family that the kernel lacks, that would load a module
    /// (`genl_ctrl_getfamily` in `net/netlink/genetlink.c`).
    public static func families(sequence: UInt32) -> [UInt8] {
        NetlinkEncoder().encode(.familiesRequested, sequence: sequence)
    }

    /// What nl80211 knows of an interface (`NL80211_CMD_GET_INTERFACE`).
    ///
    /// Answered by one ``WirelessMessage/Command/newInterface``, or by ENODEV if it is no WiFi interface.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the answer repeats.
    /// - Returns: The message with its head.
    public static func wirelessInterface(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getInterface, of: index, family: family, sequence: sequence, flags: .request)
    }

    /// The stations that an interface speaks with (`NL80211_CMD_GET_STATION`): of a station, its access point alone.
    ///
    /// Answered by a dump of ``WirelessMessage/Command/newStation``.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the answers repeat.
    /// - Returns: The message with its head.
    public static func wirelessStations(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getStation, of: index, family: family, sequence: sequence, flags: [.request, .dump])
    }

    /// What WireGuard knows of a device (`WG_CMD_GET_DEVICE`), which takes `CAP_NET_ADMIN` in its namespace.
    ///
    /// Answered by a dump of ``KernelEvent/wireGuard(_:)``; the datagrams hold the device's private key too, so they
    /// are not to be recorded as they are.
    ///
    /// - Parameters:
    ///   - index: The device.
    ///   - family: ``GenericFamilies/wireGuard``.
    ///   - sequence: `nlmsg_seq`, which the answers repeat.
    /// - Returns: The message with its head.
    public static func wireGuardDevice(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: [.request, .dump], sequence: sequence)
        builder.append(bytes: [WG.getDevice, WG.version, 0, 0])
        builder.attribute(WG.Device.index, index: index)
        return builder.build()
    }

    /// The access points of an interface's last scan (`NL80211_CMD_GET_SCAN`); nothing is scanned for it.
    ///
    /// Answered by a dump of ``WirelessMessage/Command/scanResult``, of which ``WirelessMessage/isOwnNetwork`` marks one.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the answers repeat.
    /// - Returns: The message with its head.
    public static func wirelessScan(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getScan, of: index, family: family, sequence: sequence, flags: [.request, .dump])
    }

    private static func request(
        _ command: UInt8,
        of index: InterfaceIndex,
        family: UInt16,
        sequence: UInt32,
        flags: NetlinkFlags
    ) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: flags, sequence: sequence)
        builder.append(bytes: [command, 1, 0, 0])
        builder.attribute(NL80211.interfaceIndex, index: index)
        return builder.build()
    }
}
