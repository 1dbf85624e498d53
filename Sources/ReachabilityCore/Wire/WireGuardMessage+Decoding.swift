extension WireGuardMessage {
    /// Reads an answer to `WG_CMD_GET_DEVICE`; nil if it is another command's.
    ///
    /// Of several messages about one device only the first names its number; the others are about the same.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard command == WG.getDevice else { return nil }
        self.init(index: 0)
        var cursor = body.attributes(behind: GENL.headerSize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case WG.Device.index: index = try attribute.integer(bytes, "WGDEVICE_A_IFINDEX")
            case WG.Device.mark: mark = try attribute.integer(bytes, "WGDEVICE_A_FWMARK")
            case WG.Device.peers: try readPeers(attribute, bytes)
            default: break
            }
        }
    }

    private mutating func readPeers(_ list: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var cursor = list.nested
        while let attribute = try cursor.next(bytes) { peers.append(try Peer(attribute, bytes)) }
    }
}

extension WireGuardMessage.Peer {
    fileprivate init(_ peer: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        self.init()
        var cursor = peer.nested
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case WG.Peer.endpoint: try readEndpoint(attribute, bytes)
            case WG.Peer.allowed: try readAllowed(attribute, bytes)
            default: break
            }
        }
    }

    /// Reads a `struct sockaddr_in` or `struct sockaddr_in6`, of which family and port come first (ip(7), ipv6(7)).
    private mutating func readEndpoint(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let name = "WGPEER_A_ENDPOINT"
        let number: UInt16 = try attribute.integer(bytes, name)
        guard let family = AddressFamily(rawValue: UInt8(truncatingIfNeeded: number)) else { return }
        endpoint = try attribute.address(family, bytes, name, at: family == .ipv4 ? 4 : 8)
        let start = attribute.payload.start + 2
        port = .init(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt16.self))
    }

    private mutating func readAllowed(_ list: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var entries = list.nested
        while let entry = try entries.next(bytes) {
            var family: UInt16 = 0
            var address: NetlinkAttribute?
            var length: UInt8 = 0
            var cursor = entry.nested
            while let attribute = try cursor.next(bytes) {
                switch attribute.type {
                case WG.Allowed.family: family = try attribute.integer(bytes, "WGALLOWEDIP_A_FAMILY")
                case WG.Allowed.address: address = attribute
                case WG.Allowed.length: length = try attribute.integer(bytes, "WGALLOWEDIP_A_CIDR_MASK")
                default: break
                }
            }
            guard let address, let known = AddressFamily(rawValue: UInt8(truncatingIfNeeded: family)) else { continue }
            let first = try address.address(known, bytes, "WGALLOWEDIP_A_IPADDR")
            allowed.append(.init(first, length: min(length, UInt8(known.bitWidth))))
        }
    }
}
