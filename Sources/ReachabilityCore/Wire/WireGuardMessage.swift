/// A WireGuard device and its peers: a reply to `WG_CMD_GET_DEVICE` (`include/uapi/linux/wireguard.h`).
///
/// A device with many peers is described by several messages, each with some of them. Keys are not read.
package struct WireGuardMessage: Sendable, Hashable {
    /// `WGDEVICE_A_IFINDEX`.
    package var index: InterfaceIndex
    /// `WGDEVICE_A_FWMARK`: the mark of the encapsulated packets; 0 for none.
    package var mark: UInt32 = 0
    /// `WGDEVICE_A_PEERS`.
    package var peers: [Peer] = []

    /// Creates a message; set the other properties afterwards.
    package init(index: InterfaceIndex) { self.index = index }

    /// A peer of a WireGuard device.
    package struct Peer: Sendable, Hashable {
        /// `WGPEER_A_ENDPOINT`: the peer's address; nil while it is not known.
        package var endpoint: IPAddress?
        /// The endpoint's port.
        package var port: UInt16 = 0
        /// `WGPEER_A_ALLOWEDIPS`: the destinations that are routed to this peer.
        package var allowed: [IPPrefix] = []

        /// Creates a peer without an endpoint.
        package init() {}
    }
}

// MARK: - Decoding

extension WireGuardMessage {
    /// Decodes a reply to `WG_CMD_GET_DEVICE`, or returns nil if the command differs.
    ///
    /// Of several messages about a device only the first has its index.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard command == WG.getDevice else { return nil }
        self.init(index: 0)
        var cursor = body.attributes(after: GENL.headerSize)
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

    /// Reads a `struct sockaddr_in` or `struct sockaddr_in6`, which begins with the family and the port (ip(7), ipv6(7)).
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

// MARK: - Encoding

extension WireGuardMessage {
    /// Appends `struct genlmsghdr` and the attributes, without keys: a recording must not hold any.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [WG.getDevice, WG.version, 0, 0])
        builder.attribute(WG.Device.index, index: index)
        builder.attribute(WG.Device.mark, mark)
        builder.nested(WG.Device.peers) { list in
            for peer in peers { list.nested(0) { peer.append(to: &$0) } }
        }
    }
}

extension WireGuardMessage.Peer {
    fileprivate func append(to builder: inout NetlinkMessageBuilder) {
        if let endpoint {
            builder.nested(WG.Peer.endpoint, flagged: false) { inner in
                inner.append(UInt16(endpoint.family.rawValue))
                inner.append(bytes: [UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)])
                // An IPv6 address follows its flow and precedes its scope; `struct sockaddr_in` ends with padding.
                if endpoint.family == .ipv6 { inner.append(UInt32(0)) }
                inner.append(endpoint)
                inner.append(bytes: repeatElement(0, count: endpoint.family == .ipv6 ? 4 : 8))
            }
        }
        builder.nested(WG.Peer.allowed) { list in
            for prefix in allowed {
                list.nested(0) { entry in
                    entry.attribute(WG.Allowed.family, UInt16(prefix.address.family.rawValue))
                    entry.attribute(WG.Allowed.address, prefix.address)
                    entry.attribute(WG.Allowed.length, prefix.length)
                }
            }
        }
    }
}

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for a WireGuard device (`WG_CMD_GET_DEVICE`), which needs `CAP_NET_ADMIN` in its namespace.
    ///
    /// The reply is a dump of ``KernelEvent/wireGuard(_:)``. Its datagrams contain the device's private key and must not be
    /// recorded.
    ///
    /// - Parameters:
    ///   - index: The device.
    ///   - family: ``GenericFamilies/wireGuard``.
    ///   - sequence: `nlmsg_seq`, which the replies repeat.
    /// - Returns: The message with its header.
    package static func wireGuardDevice(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: [.request, .dump], sequence: sequence)
        builder.append(bytes: [WG.getDevice, WG.version, 0, 0])
        builder.attribute(WG.Device.index, index: index)
        return builder.build()
    }
}

// MARK: - Numbers

/// `WG_*`: the command and attributes of WireGuard that are requested and decoded.
private enum WG {
    static let getDevice: UInt8 = 0
    static let version: UInt8 = 1

    /// `WGDEVICE_A_*`.
    enum Device {
        static let index: UInt16 = 1
        static let mark: UInt16 = 7
        static let peers: UInt16 = 8
    }

    /// `WGPEER_A_*`.
    enum Peer {
        static let endpoint: UInt16 = 4
        static let allowed: UInt16 = 9
    }

    /// `WGALLOWEDIP_A_*`.
    enum Allowed {
        static let family: UInt16 = 1
        static let address: UInt16 = 2
        static let length: UInt16 = 3
    }
}
