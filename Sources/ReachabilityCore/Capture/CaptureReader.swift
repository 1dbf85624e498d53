/// Reads netlink captures: pcap in micro- or nanoseconds and pcapng, in either byte order, `LINKTYPE_NETLINK`.
///
/// ```swift
/// var reader = CaptureReader()
/// while let record = try reader.next(bytes) {
///     let decoder = NetlinkDecoder(byteOrder: record.byteOrder, protocolNumber: record.netlinkProtocol)
///     try decoder.decode(bytes.extracting(record.payload)) { header, event in … }
/// }
/// ```
/// The file is untrusted: every length is checked, and an error has its record and offset. The records before it have been
/// returned by then.
package struct CaptureReader: Sendable {
    private var format: Format?
    private var count = 0

    /// Creates a reader at the first record.
    package init() {}

    /// Returns the next record, or nil after the last.
    ///
    /// - Parameter bytes: The whole file, the same in each call.
    /// - Throws: An error in the file. If ``CaptureError/canContinue`` is true, the next call continues after it;
    ///   otherwise it returns nil.
    /// - Returns: The record, whose payload is a range of `bytes`.
    package mutating func next(_ bytes: RawSpan) throws(CaptureError) -> CaptureRecord? {
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

    /// Returns the next packet of any link type; a damaged frame ends the capture.
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
            case .ended, nil: return nil
            }
        } catch {
            if !error.canContinue { format = .ended } else { count += 1 }
            throw error
        }
    }

    /// Detects the format from the file's first bytes.
    private static func format(_ bytes: RawSpan) throws(CaptureError) -> Format {
        guard bytes.byteCount >= 4 else {
            throw .init(.truncatedHead(required: PcapReader.headerSize, available: bytes.byteCount), record: nil, at: 0)
        }
        let magic = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
        return magic == PcapngReader.sectionHeader ? .pcapng(.init()) : .pcap(try .init(bytes))
    }

    /// Decodes the header of a netlink packet; returns nil for packets of other interfaces of the capture.
    private mutating func record(_ packet: CapturedPacket, _ bytes: RawSpan) throws(CaptureError) -> CaptureRecord? {
        count += 1
        guard packet.linkType == CookedHeader.linkType else {
            guard !packet.hasNetlinkInterface else { return nil }
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

/// A packet, independent of the file's format.
struct CapturedPacket {
    /// The offset of its record or block.
    var offset: Int
    /// The time in nanoseconds since 1970.
    var time: Int64
    /// The link type of its interface.
    var linkType: UInt16
    /// Whether the file has a netlink interface, so that packets of other link types can be skipped.
    var hasNetlinkInterface = false
    /// The region of its bytes.
    var data: WireRegion
    /// The length of the packet when it was captured.
    var originalLength: Int
    /// The byte order of the file's numbers.
    var byteOrder: ByteOrder

    /// The maximum length of a packet, more than a netlink datagram can have.
    static let maximumLength: UInt32 = 1 << 24
}

extension WireRegion {
    /// The same region in network byte order.
    var inNetworkOrder: Self { .init(start: start, end: end, isForeign: ByteOrder.host != .big) }
}

/// A netlink datagram in a capture file.
package struct CaptureRecord: Sendable, Hashable {
    /// The number of the packet in the capture, from 1, as in Wireshark.
    package var number: Int
    /// The offset of the record in the file, in bytes.
    package var offset: Int
    /// The time of the capture in nanoseconds since 1970-01-01 00:00 UTC; 0 if the file has none.
    package var time: Int64
    /// The direction of the datagram.
    package var packetType: CapturePacketType
    /// The netlink family, such as ``NetlinkDecoder/route`` or ``NetlinkDecoder/uevent``.
    package var netlinkProtocol: UInt16
    /// The byte order of the captured machine according to the length field, otherwise the file's.
    package var byteOrder: ByteOrder
    /// The range of the datagram in the file.
    package var payload: Range<Int>
    /// The original length of the datagram; more than ``payload`` has if the capture truncated it.
    package var originalLength: Int
}

/// The direction of a captured packet: `PACKET_*` (packet(7), `include/uapi/linux/if_packet.h`).
package struct CapturePacketType: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes.
    package let rawValue: UInt16
    /// Creates a direction from the kernel's number.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `PACKET_OUTGOING`: the direction of most netlink messages in files written by libpcap.
    package static let outgoing = Self(rawValue: 4)
    /// `PACKET_USER`: to a process.
    package static let user = Self(rawValue: 6)
    /// `PACKET_KERNEL`: to the kernel.
    package static let kernel = Self(rawValue: 7)
}

/// `LINKTYPE_NETLINK`: the layout of a captured netlink packet (tcpdump.org, "Link-layer header types").
enum CookedHeader {
    /// The number in a capture's header.
    static let linkType: UInt16 = 253
    /// The size: packet type, hardware type, ten unused bytes and netlink family, in network byte order.
    static let size = 16
    /// `ARPHRD_NETLINK`.
    static let hardwareType: UInt16 = 824
}

/// An error in a netlink capture, with its position.
package struct CaptureError: Error, Sendable, Hashable {
    /// The error.
    package var fault: Fault
    /// The number of the packet that was being read, from 1; nil for the file's header.
    package var record: Int?
    /// The offset of the error in the file, in bytes.
    package var offset: Int

    /// The kinds of errors in a capture.
    package enum Fault: Sendable, Hashable {
        /// The file is neither pcap nor pcapng.
        case unknownMagic(UInt32)
        /// The file ends in its header.
        case truncatedHead(required: Int, available: Int)
        /// The version of the format is not supported.
        case unsupportedVersion(major: UInt16, minor: UInt16)
        /// The packets are not of `LINKTYPE_NETLINK`.
        case otherLinkType(UInt16)
        /// The file ends in a record or a block.
        case truncatedRecord(required: Int, available: Int)
        /// The length of a record or a block is more than a netlink datagram can have.
        case absurdLength(UInt32)
        /// The length of a pcapng block is too small for its type or no multiple of four.
        case invalidBlockLength(UInt32)
        /// The two lengths of a pcapng block differ.
        case mismatchedBlockLength(first: UInt32, last: UInt32)
        /// A pcapng packet refers to an interface that its section does not describe.
        case unknownInterface(UInt32)
        /// A packet is shorter than a netlink packet's header.
        case shortPacket(available: Int)
        /// A packet's hardware type is not `ARPHRD_NETLINK`.
        case otherHardwareType(UInt16)
    }

    /// Whether the records after this one can be read: its frame is intact, its content is not.
    package var canContinue: Bool {
        switch fault {
        case .otherLinkType, .unknownInterface, .shortPacket, .otherHardwareType: record != nil
        default: false
        }
    }

    init(_ fault: Fault, record: Int?, at offset: Int) {
        self.fault = fault
        self.record = record
        self.offset = offset
    }
}

extension CaptureError: CustomStringConvertible {
    /// A description of the error, its position and its remedy.
    package var description: String {
        let place = record.map { "record \($0) at byte \(offset)" } ?? "file header at byte \(offset)"
        return "\(place): \(fault)"
    }
}

extension CaptureError.Fault: CustomStringConvertible {
    /// A description of the error.
    package var description: String {
        switch self {
        case .unknownMagic(let magic): Self.describe(magic: magic)
        case .truncatedHead(let required, let available):
            "the file header is truncated: it needs \(required) bytes, \(available) are left"
        case .unsupportedVersion(let major, let minor):
            "version \(major).\(minor) of the format is not supported; convert the file with a current editcap"
        case .otherLinkType(let type):
            "link type \(type) is not netlink (253); capture on an nlmon interface, or with netwatch record"
        case .truncatedRecord(let required, let available):
            "the record is truncated: it needs \(required) bytes, \(available) are left"
        case .absurdLength(let length): "the length is \(length) bytes, more than a netlink message can have"
        case .invalidBlockLength(let length): "\(length) bytes is not a valid length for a block"
        case .mismatchedBlockLength(let first, let last):
            "the block's length is \(first) bytes at its start and \(last) at its end"
        case .unknownInterface(let number): "interface \(number) is not described in the file"
        case .shortPacket(let available):
            "the packet has \(available) bytes; the header of a netlink packet has \(CookedHeader.size)"
        case .otherHardwareType(let type): "hardware type \(type) is not netlink (\(CookedHeader.hardwareType))"
        }
    }

    private static func describe(magic: UInt32) -> String {
        // Gzip's magic number, read in either byte order.
        if magic & 0xFFFF == 0x8B1F || magic >> 16 == 0x1F8B { return "the file is compressed; run gunzip on it first" }
        let digits = String(magic, radix: 16)
        return "the file is neither pcap nor pcapng: it begins with 0x\(digits)"
    }
}
