/// An error in a netlink capture, with its position.
public struct CaptureError: Error, Sendable, Hashable {
    /// The error.
    public var fault: Fault
    /// The number of the packet that was being read, from 1; nil for the file's header.
    public var record: Int?
    /// The offset of the error in the file, in bytes.
    public var offset: Int

    /// The kinds of errors in a capture.
    public enum Fault: Sendable, Hashable {
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
    public var canContinue: Bool {
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
    public var description: String {
        let place = record.map { "record \($0) at byte \(offset)" } ?? "file header at byte \(offset)"
        return "\(place): \(fault)"
    }
}

extension CaptureError.Fault: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
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
