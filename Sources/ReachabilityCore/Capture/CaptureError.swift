/// Why a file can't be read as a capture of netlink, and where.
public struct CaptureError: Error, Sendable, Hashable {
    /// What is wrong.
    public var fault: Fault
    /// The packet that was being read, counted from 1; nil for the file's head.
    public var record: Int?
    /// Where it is wrong: bytes from the start of the file.
    public var offset: Int

    /// What can be wrong with a capture.
    public enum Fault: Sendable, Hashable {
        /// The file does not begin as pcap or pcapng do.
        case unknownMagic(UInt32)
        /// The file ends in its head.
        case truncatedHead(required: Int, available: Int)
        /// The format has another version than those that are known.
        case unsupportedVersion(major: UInt16, minor: UInt16)
        /// The packets are not of `LINKTYPE_NETLINK`.
        case otherLinkType(UInt16)
        /// The file ends in a record or a block.
        case truncatedRecord(required: Int, available: Int)
        /// A record or a block says a length that no netlink datagram has.
        case absurdLength(UInt32)
        /// A pcapng block's length is too small for its kind, or no multiple of four.
        case invalidBlockLength(UInt32)
        /// A pcapng block's two lengths differ.
        case mismatchedBlockLength(first: UInt32, last: UInt32)
        /// A pcapng packet names an interface that the section did not describe.
        case unknownInterface(UInt32)
        /// A packet is shorter than the head of a netlink packet.
        case shortPacket(available: Int)
        /// A packet's hardware type is not `ARPHRD_NETLINK`.
        case otherHardwareType(UInt16)
    }

    /// Whether the records behind this one can be read: the frame was whole, its content was not.
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
    /// What is wrong, where, and what can be done, for a person to read.
    public var description: String {
        let place = record.map { "record \($0) at byte \(offset)" } ?? "file head at byte \(offset)"
        return "\(place): \(fault)"
    }
}

extension CaptureError.Fault: CustomStringConvertible {
    /// What is wrong, for a person to read.
    public var description: String {
        switch self {
        case .unknownMagic(let magic): Self.describe(magic: magic)
        case .truncatedHead(let required, let available):
            "the file ends in its head, which needs \(required) bytes; \(available) are there"
        case .unsupportedVersion(let major, let minor):
            "version \(major).\(minor) of the format is not known; convert the file with a current editcap"
        case .otherLinkType(let type):
            "link type \(type) is not netlink (253); capture on an nlmon interface, or with netwatch record"
        case .truncatedRecord(let required, let available):
            "the file ends in the record, which needs \(required) bytes; \(available) are there"
        case .absurdLength(let length): "a length of \(length) bytes is more than any netlink message has"
        case .invalidBlockLength(let length): "a block can't have a length of \(length) bytes"
        case .mismatchedBlockLength(let first, let last):
            "the block says \(first) bytes at its beginning and \(last) at its end"
        case .unknownInterface(let number): "interface \(number) is not described in the file"
        case .shortPacket(let available):
            "the packet has \(available) bytes; the head of a netlink packet has \(CookedHeader.size)"
        case .otherHardwareType(let type): "hardware type \(type) is not netlink (\(CookedHeader.hardwareType))"
        }
    }

    private static func describe(magic: UInt32) -> String {
        // Gzip's two bytes, in either order of the machine that read them as a number.
        if magic & 0xFFFF == 0x8B1F || magic >> 16 == 0x1F8B { return "the file is compressed; run gunzip on it first" }
        let digits = String(magic, radix: 16)
        return "neither pcap nor pcapng begins with \(digits); give a capture of netlink"
    }
}
