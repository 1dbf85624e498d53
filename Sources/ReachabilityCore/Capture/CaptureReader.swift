/// Reads captures of netlink: pcap with micro- or nanoseconds and pcapng, of either byte order, `LINKTYPE_NETLINK`.
///
/// ```swift
/// var reader = CaptureReader()
/// while let record = try reader.next(bytes) {
///     let decoder = NetlinkDecoder(byteOrder: record.byteOrder, protocolNumber: record.netlinkProtocol)
///     try decoder.decode(bytes.extracting(record.payload)) { header, event in … }
/// }
/// ```
/// The file is what somebody else wrote: each length is checked, and what is wrong is an error with its record and its
/// place. The records before it have been delivered by then.
public struct CaptureReader: Sendable {
    private var format: Format?
    private var count = 0

    /// Makes a reader that stands before the first record.
    public init() {}

    /// The next record, or nil behind the last.
    ///
    /// - Parameter bytes: The whole file, the same at each call.
    /// - Throws: What is wrong with the file. If ``CaptureError/canContinue``, the next call reads on behind it; if
    ///   not, there is nothing more to read.
    /// - Returns: The record, whose payload is a range of `bytes`.
    public mutating func next(_ bytes: RawSpan) throws(CaptureError) -> CaptureRecord? {
        while let packet = try nextPacket(bytes) {
            if let record = try record(packet, bytes) { return record }
        }
        return nil
    }

    private enum Format: Sendable {
        case pcap(PcapReader)
        case pcapng(PcapngReader)
        case ended
    }

    /// The next packet of whatever link type; the reader ends behind a broken frame.
    private mutating func nextPacket(_ bytes: RawSpan) throws(CaptureError) -> CapturedPacket? {
        do throws(CaptureError) {
            if format == nil { format = try Self.format(bytes) }
            switch format {
            case .pcap(var reader):
                defer { format = .pcap(reader) }
                return try reader.next(bytes, number: count + 1)
            case .pcapng(var reader):
                defer { format = .pcapng(reader) }
                return try reader.next(bytes, number: count + 1)
            case .ended, nil:
                return nil
            }
        } catch {
            if !error.canContinue { format = .ended } else { count += 1 }
            throw error
        }
    }

    /// Tells the format by the file's first bytes.
    private static func format(_ bytes: RawSpan) throws(CaptureError) -> Format {
        guard bytes.byteCount >= 4 else {
            throw .init(.truncatedHead(required: PcapReader.headSize, available: bytes.byteCount), record: nil, at: 0)
        }
        let magic = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
        return magic == PcapngReader.sectionHeader ? .pcapng(.init()) : .pcap(try .init(bytes))
    }

    /// Reads the head of a netlink packet; nil for a packet of another link type beside netlink.
    private mutating func record(_ packet: CapturedPacket, _ bytes: RawSpan) throws(CaptureError) -> CaptureRecord? {
        count += 1
        guard packet.linkType == CookedHeader.linkType else {
            guard !packet.isBesideNetlink else { return nil }
            throw .init(.otherLinkType(packet.linkType), record: count, at: packet.offset)
        }
        guard packet.data.count >= CookedHeader.size else {
            throw .init(.shortPacket(available: packet.data.count), record: count, at: packet.offset)
        }
        let head = packet.data.inNetworkOrder
        let hardwareType: UInt16 = head.load(2, bytes)
        guard hardwareType == CookedHeader.hardwareType else {
            throw .init(.otherHardwareType(hardwareType), record: count, at: packet.data.start + 2)
        }
        let payload = (packet.data.start + CookedHeader.size)..<packet.data.end
        return .init(
            number: count,
            offset: packet.offset,
            time: packet.time,
            packetType: .init(rawValue: head.load(0, bytes)),
            netlinkProtocol: head.load(14, bytes),
            byteOrder: NetlinkDecoder.byteOrder(of: bytes.extracting(payload)) ?? packet.byteOrder,
            payload: payload,
            originalLength: max(payload.count, packet.originalLength - CookedHeader.size)
        )
    }
}

/// A packet as either format frames it.
struct CapturedPacket {
    /// Where its record or block begins.
    var offset: Int
    /// Nanoseconds since 1970.
    var time: Int64
    /// The link type of the interface it was captured on.
    var linkType: UInt16
    /// Whether another interface of the file is netlink, so that a packet which is not may be passed over.
    var isBesideNetlink = false
    /// Its bytes.
    var data: WireRegion
    /// How long it was when it was captured.
    var originalLength: Int
    /// The order of the file's own numbers.
    var byteOrder: ByteOrder

    /// More than a netlink datagram can have; a length above it is none.
    static let longest: UInt32 = 1 << 24
}

extension WireRegion {
    /// The same bytes, read in network order.
    var inNetworkOrder: Self { .init(start: start, end: end, isForeign: ByteOrder.host != .big) }
}

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
