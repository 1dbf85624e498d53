import ReachabilityCore

extension EventLoop {
    /// Asks which families of generic netlink there are; the answers come before those about interfaces.
    func askFamilies() {
        families = .init()
        let request = NetlinkRequests.families(sequence: 1)
        if sockets.sendGeneric(request) { record(request, .toKernel, NetlinkDecoder.generic) }
    }

    /// Takes all that the kernel has told of links, routes and their like, and then all that it has told of WiFi.
    ///
    /// In this order, as what links' messages say is the older: the kernel announces the loss of a carrier up to a second
    /// late, and nl80211 the end of an association at once. Without nl80211 that costs nothing.
    func drainAll(isGenericReady: Bool = false) {
        drainEvents()
        if isGenericReady || families.nl80211 != 0 { drainGeneric() }
    }

    private func drainGeneric() {
        var isLost = false
        while !run.isStopping {
            switch sockets.receiveGeneric(into: buffer) {
            case .datagram(let length): takeGeneric(length)
            case .foreign: alterMachine { $0.ignoreForeign() }
            case .overrun: isLost = true
            case .truncated(let length):
                buffer.grow(to: length)
                isLost = true
            // All that is queued is older than the loss.
            case .empty, .failed:
                if isLost { alterMachine { $0.overrunWireless(at: Clock.now) } }
                return
            }
        }
    }

    private func takeGeneric(_ length: Int) {
        let isOfController = buffer.withDatagram(length) { GenericDatagram.isOfController($0) }
        guard isOfController else { return take(length, NetlinkDecoder.generic) { $0.receive($1, $2, at: $3) } }
        let families = buffer.withDatagram(length, GenericDatagram.families)
        for (header, family) in families where GenericFamilies.reads(family) { learn(family, header) }
    }

    /// Takes a family that messages are read of; of the others, which are many, a recording need not know.
    private func learn(_ family: GenericFamily, _ header: NetlinkHeader) {
        families.note(family)
        sockets.hear(family)
        record(
            NetlinkEncoder().encode(.family(family), flags: header.flags, sequence: header.sequence, port: header.port),
            .fromKernel,
            NetlinkDecoder.generic
        )
        if !header.flags.contains(.multi) { alterMachine { $0.receiveNew(family) } }
    }
}

/// What kind of datagram of generic netlink lies in a buffer.
private enum GenericDatagram {
    /// Whether it tells of families: `nlmsg_type` of the first message is `GENL_ID_CTRL`, or ends such a dump.
    static func isOfController(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= NetlinkHeader.size else { return false }
        return bytes.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt16.self) <= 0x10
    }

    /// The families that it tells of.
    static func families(_ bytes: RawSpan) -> [(NetlinkHeader, GenericFamily)] {
        var families: [(NetlinkHeader, GenericFamily)] = []
        try? NetlinkDecoder(protocolNumber: NetlinkDecoder.generic).decode(bytes) { header, event in
            if case .family(let family) = event { families.append((header, family)) }
        }
        return families
    }
}
