/// A session of L2TPv3, which is an interface, or the tunnel that it belongs to (`include/uapi/linux/l2tp.h`).
///
/// The kernel answers `L2TP_CMD_SESSION_GET` without addresses, and `L2TP_CMD_TUNNEL_GET` without the session. Recordings
/// hold a session with its tunnel's addresses, in the form of the former.
public struct L2TPMessage: Sendable, Hashable {
    /// `L2TP_ATTR_IFNAME`: the session's interface; nil for a tunnel.
    public var interface: String?
    /// `L2TP_ATTR_CONN_ID`: the number of the tunnel on this host.
    public var tunnel: UInt32 = 0
    /// `L2TP_ATTR_IP_SADDR` or `L2TP_ATTR_IP6_SADDR`: the address that the tunnel sends from.
    public var source: IPAddress?
    /// `L2TP_ATTR_IP_DADDR` or `L2TP_ATTR_IP6_DADDR`: the address of the other end.
    public var remote: IPAddress?

    /// Creates a message about a session of an interface, or about a tunnel.
    public init(interface: String? = nil, tunnel: UInt32 = 0) {
        self.interface = interface
        self.tunnel = tunnel
    }
}

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

extension L2TPMessage {
    /// Reads an answer about a session or a tunnel; nil for a message of another command.
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

extension NetlinkRequests {
    /// Builds the request for all sessions of L2TP (`L2TP_CMD_SESSION_GET`), which takes `CAP_NET_ADMIN`.
    ///
    /// The kernel answers with a dump of ``KernelEvent/l2tp(_:)``.
    ///
    /// - Parameters:
    ///   - family: ``GenericFamilies/l2tp``.
    ///   - sequence: `nlmsg_seq`, which the answers repeat.
    /// - Returns: The message with its head.
    public static func l2tpSessions(family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: [.request, .dump], sequence: sequence)
        builder.append(bytes: [L2TP.getSession, L2TP.version, 0, 0])
        return builder.build()
    }

    /// Builds the request for one tunnel of L2TP (`L2TP_CMD_TUNNEL_GET`), which takes `CAP_NET_ADMIN`.
    ///
    /// The kernel answers with one ``KernelEvent/l2tp(_:)``, or with ENODEV.
    ///
    /// - Parameters:
    ///   - tunnel: ``L2TPMessage/tunnel``.
    ///   - family: ``GenericFamilies/l2tp``.
    ///   - sequence: `nlmsg_seq`, which the answer repeats.
    /// - Returns: The message with its head.
    public static func l2tpTunnel(_ tunnel: UInt32, family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: .request, sequence: sequence)
        builder.append(bytes: [L2TP.getTunnel, L2TP.version, 0, 0])
        builder.attribute(L2TP.Attribute.tunnel, tunnel)
        return builder.build()
    }
}
