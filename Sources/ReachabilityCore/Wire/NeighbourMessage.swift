/// The content of an `RTM_NEWNEIGH` or `RTM_DELNEIGH` message (rtnetlink(7), `include/uapi/linux/neighbour.h`).
package struct NeighbourMessage: Sendable, Hashable {
    /// `ndm_ifindex`.
    package var index: InterfaceIndex
    /// `NDA_DST`.
    package var address: IPAddress
    /// `ndm_state`.
    package var state: NeighbourState

    /// Creates a message.
    package init(index: InterfaceIndex, address: IPAddress, state: NeighbourState) {
        self.index = index
        self.address = address
        self.state = state
    }
}

/// `NUD_*` (RFC 4861, 7.3.2; arp(7)).
package struct NeighbourState: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt16
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `NUD_INCOMPLETE`.
    package static let incomplete = Self(rawValue: 0x01)
    /// `NUD_REACHABLE`.
    package static let reachable = Self(rawValue: 0x02)
    /// `NUD_STALE`.
    package static let stale = Self(rawValue: 0x04)
    /// `NUD_DELAY`.
    package static let delay = Self(rawValue: 0x08)
    /// `NUD_PROBE`.
    package static let probe = Self(rawValue: 0x10)
    /// `NUD_FAILED`.
    package static let failed = Self(rawValue: 0x20)
    /// `NUD_NOARP`.
    package static let noARP = Self(rawValue: 0x40)
    /// `NUD_PERMANENT`.
    package static let permanent = Self(rawValue: 0x80)
    /// `NUD_VALID`: has a usable link-layer address.
    package static let valid: Self = [.permanent, .noARP, .reachable, .probe, .stale, .delay]
}

// MARK: - Decoding

extension NeighbourMessage {
    /// `sizeof(struct ndmsg)`.
    static let bodySize = 12

    /// Decodes the payload of an `RTM_NEWNEIGH` or `RTM_DELNEIGH` message.
    ///
    /// Returns nil for entries that are no neighbours: those of a bridge's forwarding database, and addresses that this
    /// host proxies (`NTF_PROXY`), which would look like a neighbour without a state.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)), body.byte(10, bytes) & NDA.proxyFlag == 0
        else { return nil }
        var found: IPAddress?
        var cursor = body.attributes(after: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            guard attribute.type == NDA.dst else { continue }
            found = try attribute.address(family, bytes, "NDA_DST")
        }
        guard let found else { throw .init(.missingAttribute("NDA_DST"), at: body.start) }
        self.init(index: body.load(4, bytes), address: found, state: .init(rawValue: body.load(8, bytes)))
    }
}

// MARK: - Encoding

extension NeighbourMessage {
    /// Appends `struct ndmsg` and the address.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(address.family.rawValue)
        builder.append(bytes: [0, 0, 0])
        builder.append(index)
        builder.append(state.rawValue)
        builder.append(UInt16(0))
        builder.attribute(NDA.dst, address)
    }
}

// MARK: - Numbers

/// `NDA_*` and `NTF_*`: attributes and flags of neighbours (`neighbour.h`).
enum NDA {
    static let dst: UInt16 = 1
    static let ifindex: UInt16 = 8
    /// `NTF_PROXY` in `ndm_flags`: a proxied address, not a neighbour.
    static let proxyFlag: UInt8 = 0x08
}
