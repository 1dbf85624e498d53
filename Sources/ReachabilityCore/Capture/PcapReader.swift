/// Reads the records of a pcap file (pcap-savefile(5)).
struct PcapReader {
    private let isForeign: Bool
    private let nanosecondsPerTick: Int64
    private let linkType: UInt16
    private var position = headerSize

    /// The size of the file's header.
    static let headerSize = 24
    /// The size of a record's header: seconds, fraction, length in the file, original length.
    private static let recordHeaderSize = 16
    private static let microseconds: UInt32 = 0xA1B2_C3D4
    private static let nanoseconds: UInt32 = 0xA1B2_3C4D

    /// Decodes the file's header; its magic number determines the byte order and the unit of time.
    init(_ bytes: RawSpan) throws(CaptureError) {
        let magic = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        switch magic {
        case Self.microseconds, Self.nanoseconds: isForeign = false
        case Self.microseconds.byteSwapped, Self.nanoseconds.byteSwapped: isForeign = true
        default: throw .init(.unknownMagic(magic), record: nil, at: 0)
        }
        nanosecondsPerTick = magic == Self.nanoseconds || magic.byteSwapped == Self.nanoseconds ? 1 : 1000
        guard bytes.byteCount >= Self.headerSize else {
            throw .init(.truncatedHead(required: Self.headerSize, available: bytes.byteCount), record: nil, at: 0)
        }
        let head = WireRegion(start: 0, end: Self.headerSize, isForeign: isForeign)
        let major: UInt16 = head.load(4, bytes)
        guard major == 2 else {
            throw .init(.unsupportedVersion(major: major, minor: head.load(6, bytes)), record: nil, at: 4)
        }
        // The upper half describes a frame check sequence, which netlink packets do not have.
        linkType = UInt16(truncatingIfNeeded: head.load(20, bytes) as UInt32)
        guard linkType == CookedHeader.linkType else {
            throw .init(.otherLinkType(linkType), record: nil, at: 20)
        }
    }

    /// Returns the next packet, or nil at the end of the file.
    mutating func next(_ bytes: RawSpan, number: Int) throws(CaptureError) -> CapturedPacket? {
        guard position < bytes.byteCount else { return nil }
        let record = WireRegion(start: position, end: bytes.byteCount, isForeign: isForeign)
        guard record.count >= Self.recordHeaderSize else {
            let fault = CaptureError.Fault.truncatedRecord(required: Self.recordHeaderSize, available: record.count)
            throw .init(fault, record: number, at: position)
        }
        let length: UInt32 = record.load(8, bytes)
        guard length <= CapturedPacket.maximumLength else {
            throw .init(.absurdLength(length), record: number, at: position + 8)
        }
        let required = Self.recordHeaderSize + Int(length)
        guard record.count >= required else {
            let fault = CaptureError.Fault.truncatedRecord(required: required, available: record.count)
            throw .init(fault, record: number, at: position)
        }
        position += required
        return packet(record, length, bytes)
    }

    private func packet(_ record: WireRegion, _ length: UInt32, _ bytes: RawSpan) -> CapturedPacket {
        let seconds: UInt32 = record.load(0, bytes)
        let fraction: UInt32 = record.load(4, bytes)
        let start = record.start + Self.recordHeaderSize
        return .init(
            offset: record.start,
            time: Int64(seconds) * 1_000_000_000 + Int64(fraction) * nanosecondsPerTick,
            linkType: linkType,
            data: .init(start: start, end: start + Int(length), isForeign: isForeign),
            originalLength: Int(record.load(12, bytes) as UInt32),
            byteOrder: isForeign ? .host.opposite : .host
        )
    }
}
