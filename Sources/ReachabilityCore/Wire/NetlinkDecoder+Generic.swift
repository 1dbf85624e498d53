extension NetlinkDecoder {
    /// The meaning of one message of generic netlink; of families that nobody told of, none.
    func genericEvent(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        try payload.require(GENL.headerSize)
        let command = payload.byte(0, bytes)
        if header.flags.contains(.request) {
            let asksForFamilies = header.type == GENL.control && command == CTRL.getFamily
            return asksForFamilies ? .familiesRequested : .ignored
        }
        switch header.type {
        case GENL.control where command == CTRL.newFamily:
            return try GenericFamily(payload, bytes).map(KernelEvent.family) ?? .ignored
        case families.nl80211:
            return try WirelessMessage(command, payload, bytes).map(KernelEvent.wireless) ?? .ignored
        case families.wireGuard:
            return try WireGuardMessage(command, payload, bytes).map(KernelEvent.wireGuard) ?? .ignored
        case families.team:
            return try TeamMessage(command, payload, bytes).map(KernelEvent.team) ?? .ignored
        case families.l2tp:
            return try L2TPMessage(command, payload, bytes).map(KernelEvent.l2tp) ?? .ignored
        default: return .ignored
        }
    }
}
