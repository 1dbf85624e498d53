/// One netlink datagram in a capture, by its place in the file.
public struct CaptureRecord: Sendable, Hashable {
    /// Counts the capture's packets from 1, as Wireshark does.
    public var number: Int
    /// Where the record begins: bytes from the start of the file.
    public var offset: Int
    /// When it was captured: nanoseconds since 1970-01-01 00:00 UTC; 0 if the file does not say.
    public var time: Int64
    /// Which way it went.
    public var packetType: CapturePacketType
    /// The netlink family: ``NetlinkDecoder/route``, ``NetlinkDecoder/uevent`` or another.
    public var netlinkProtocol: UInt16
    /// The order of the machine on which it was captured, as its length field shows, or else the file's.
    public var byteOrder: ByteOrder
    /// Where the datagram lies in the file.
    public var payload: Range<Int>
    /// How long the datagram was; longer than ``payload`` if the capture cut it.
    public var originalLength: Int
}

/// `PACKET_*`: which way a captured packet went (packet(7), `include/uapi/linux/if_packet.h`).
public struct CapturePacketType: RawRepresentable, Sendable, Hashable {
    /// The number as the kernel writes it.
    public let rawValue: UInt16
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `PACKET_HOST`.
    public static let host = Self(rawValue: 0)
    /// `PACKET_OUTGOING`: what libpcap's files say of most netlink messages.
    public static let outgoing = Self(rawValue: 4)
    /// `PACKET_USER`: to a process.
    public static let user = Self(rawValue: 6)
    /// `PACKET_KERNEL`: to the kernel.
    public static let kernel = Self(rawValue: 7)
}

/// `LINKTYPE_NETLINK`: the layout of a captured netlink packet (tcpdump.org, "Link-layer header types").
enum CookedHeader {
    /// The number in a capture's head.
    static let linkType: UInt16 = 253
    /// Packet type, hardware type, ten bytes of no meaning here, netlink family; all in network order.
    static let size = 16
    /// `ARPHRD_NETLINK`.
    static let hardwareType: UInt16 = 824
}
