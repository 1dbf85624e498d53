/// An L2TPv3 session, which is an interface, or its tunnel (`include/uapi/linux/l2tp.h`).
///
/// The reply to `L2TP_CMD_SESSION_GET` has no addresses, the reply to `L2TP_CMD_TUNNEL_GET` has no session. A recording
/// holds a session with its tunnel's addresses, as a reply to `L2TP_CMD_SESSION_GET`.
package struct L2TPMessage: Sendable, Hashable {
    /// `L2TP_ATTR_IFNAME`: the session's interface; nil for a tunnel.
    package var interface: String?
    /// `L2TP_ATTR_CONN_ID`: the number of the tunnel on this host.
    package var tunnel: UInt32 = 0
    /// `L2TP_ATTR_IP_SADDR` or `L2TP_ATTR_IP6_SADDR`: the tunnel's local address.
    package var source: IPAddress?
    /// `L2TP_ATTR_IP_DADDR` or `L2TP_ATTR_IP6_DADDR`: the tunnel's remote address.
    package var remote: IPAddress?

    /// Creates a message about a session of an interface, or about a tunnel.
    package init(interface: String? = nil, tunnel: UInt32 = 0) {
        self.interface = interface
        self.tunnel = tunnel
    }
}

// MARK: - Decoding

extension L2TPMessage {
    /// Decodes a reply about a session or a tunnel, or returns nil for other commands.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard command == L2TP.getSession || command == L2TP.getTunnel else { return nil }
        self.init()
        var cursor = body.attributes(after: GENL.headerSize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case L2TP.Attribute.interface: interface = attribute.text(bytes)
            case L2TP.Attribute.tunnel: tunnel = try attribute.integer(bytes, "L2TP_ATTR_CONN_ID")
            case L2TP.Attribute.source: source = try attribute.address(.ipv4, bytes, "L2TP_ATTR_IP_SADDR")
            case L2TP.Attribute.remote: remote = try attribute.address(.ipv4, bytes, "L2TP_ATTR_IP_DADDR")
            case L2TP.Attribute.source6: source = try attribute.address(.ipv6, bytes, "L2TP_ATTR_IP6_SADDR")
            case L2TP.Attribute.remote6: remote = try attribute.address(.ipv6, bytes, "L2TP_ATTR_IP6_DADDR")
            default: break
            }
        }
    }
}

// MARK: - Encoding

extension L2TPMessage {
    /// Appends `struct genlmsghdr` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [interface == nil ? L2TP.getTunnel : L2TP.getSession, L2TP.version, 0, 0])
        if let interface { builder.attribute(L2TP.Attribute.interface, string: interface) }
        builder.attribute(L2TP.Attribute.tunnel, tunnel)
        if let source {
            builder.attribute(source.family == .ipv4 ? L2TP.Attribute.source : L2TP.Attribute.source6, source)
        }
        if let remote {
            builder.attribute(remote.family == .ipv4 ? L2TP.Attribute.remote : L2TP.Attribute.remote6, remote)
        }
    }
}

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for all L2TP sessions (`L2TP_CMD_SESSION_GET`), which needs `CAP_NET_ADMIN`.
    ///
    /// The reply is a dump of ``KernelEvent/l2tp(_:)``.
    ///
    /// - Parameters:
    ///   - family: ``GenericFamilies/l2tp``.
    ///   - sequence: `nlmsg_seq`, which the replies repeat.
    /// - Returns: The message with its header.
    package static func l2tpSessions(family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: [.request, .dump], sequence: sequence)
        builder.append(bytes: [L2TP.getSession, L2TP.version, 0, 0])
        return builder.build()
    }

    /// Returns a request for an L2TP tunnel (`L2TP_CMD_TUNNEL_GET`), which needs `CAP_NET_ADMIN`.
    ///
    /// The reply is a ``KernelEvent/l2tp(_:)``, or ENODEV.
    ///
    /// - Parameters:
    ///   - tunnel: ``L2TPMessage/tunnel``.
    ///   - family: ``GenericFamilies/l2tp``.
    ///   - sequence: `nlmsg_seq`, which the reply repeats.
    /// - Returns: The message with its header.
    package static func l2tpTunnel(_ tunnel: UInt32, family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: .request, sequence: sequence)
        builder.append(bytes: [L2TP.getTunnel, L2TP.version, 0, 0])
        builder.attribute(L2TP.Attribute.tunnel, tunnel)
        return builder.build()
    }
}

// MARK: - Numbers

/// The numbers of `include/uapi/linux/l2tp.h`.
private enum L2TP {
    static let getTunnel: UInt8 = 4
    static let getSession: UInt8 = 8
    static let version: UInt8 = 1

    /// `L2TP_ATTR_*`.
    enum Attribute {
        static let interface: UInt16 = 8
        static let tunnel: UInt16 = 9
        static let source: UInt16 = 24
        static let remote: UInt16 = 25
        static let source6: UInt16 = 31
        static let remote6: UInt16 = 32
    }
}
