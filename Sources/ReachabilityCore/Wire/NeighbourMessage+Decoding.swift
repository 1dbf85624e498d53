extension NeighbourMessage {
    /// `sizeof(struct ndmsg)`.
    static let bodySize = 12

    /// Reads the payload of an `RTM_NEWNEIGH` or `RTM_DELNEIGH`.
    ///
    /// nil for what is no neighbour: an entry of a bridge's forwarding database, or an address that this host
    /// answers for (`NTF_PROXY`), which would pass for a neighbour in no state.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)), body.byte(10, bytes) & NDA.proxyFlag == 0
        else { return nil }
        var found: IPAddress?
        var cursor = body.attributes(behind: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            guard attribute.type == NDA.dst else { continue }
            found = try attribute.address(family, bytes, "NDA_DST")
        }
        guard let found else { throw .init(.missingAttribute("NDA_DST"), at: body.start) }
        self.init(index: body.load(4, bytes), address: found, state: .init(rawValue: body.load(8, bytes)))
    }
}
