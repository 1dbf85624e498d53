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

/// Reads the packets of a pcapng file (draft-ietf-opsawg-pcapng).
struct PcapngReader {
    private var position = 0
    private var isForeign = false
    private var interfaces: [PcapngInterface] = []

    /// The type of a section header block, the same in either byte order.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D
    /// The size of a block's frame: type and length before the body, and the length again after it.
    private static let frameSize = 12

    /// Returns the next packet, or nil at the end of the file; other blocks are read or skipped.
    mutating func next(_ bytes: RawSpan, number: Int) throws(CaptureError) -> CapturedPacket? {
        while position < bytes.byteCount {
            let start = position
            let place = number == 1 && interfaces.isEmpty ? nil : number
            let (type, body) = try block(bytes, place)
            position = body.end + 4
            switch type {
            case Self.sectionHeader: try beginSection(body, bytes, place)
            case 1: interfaces.append(try .init(body, bytes, place))
            case 2, 3, 6:
                let packet = try PcapngPacket(type, body, bytes, number)
                return try packet.captured(on: interfaces, at: start, body, number)
            default: break
            }
        }
        return nil
    }

    /// Reads a block's frame.
    ///
    /// - Returns: The block's type and its body.
    private mutating func block(_ bytes: RawSpan, _ number: Int?) throws(CaptureError) -> (UInt32, WireRegion) {
        try require(Self.frameSize, bytes, number)
        if (rest(bytes).load(0, bytes) as UInt32) == Self.sectionHeader { try readByteOrder(bytes, number) }
        let rest = rest(bytes)
        let length: UInt32 = rest.load(4, bytes)
        guard length >= Self.frameSize, length % 4 == 0 else {
            throw .init(.invalidBlockLength(length), record: number, at: position + 4)
        }
        guard length <= CapturedPacket.maximumLength else {
            throw .init(.absurdLength(length), record: number, at: position + 4)
        }
        try require(Int(length), bytes, number)
        let last: UInt32 = rest.load(Int(length) - 4, bytes)
        guard last == length else {
            let fault = CaptureError.Fault.mismatchedBlockLength(first: length, last: last)
            throw .init(fault, record: number, at: position + Int(length) - 4)
        }
        let end = position + Int(length) - 4
        return (rest.load(0, bytes), .init(start: position + 8, end: end, isForeign: isForeign))
    }

    /// Reads a section's byte order from its magic number, which follows the length.
    private mutating func readByteOrder(_ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        let magic = bytes.unsafeLoadUnaligned(fromByteOffset: position + 8, as: UInt32.self)
        guard magic == Self.byteOrderMagic || magic.byteSwapped == Self.byteOrderMagic else {
            throw .init(.unknownMagic(magic), record: number, at: position + 8)
        }
        isForeign = magic != Self.byteOrderMagic
    }

    /// Begins a section, in which interfaces are numbered from 0 again.
    private mutating func beginSection(_ body: WireRegion, _ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        try body.require(16, number)
        let major: UInt16 = body.load(4, bytes)
        let minor: UInt16 = body.load(6, bytes)
        // Some writers use 1.2 for 1.0; the draft asks readers to accept it.
        guard major == 1 else {
            throw .init(.unsupportedVersion(major: major, minor: minor), record: number, at: body.start + 4)
        }
        interfaces = []
    }

    private func rest(_ bytes: RawSpan) -> WireRegion {
        .init(start: position, end: bytes.byteCount, isForeign: isForeign)
    }

    private func require(_ required: Int, _ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        let available = bytes.byteCount - position
        guard available < required else { return }
        let fault: CaptureError.Fault =
            number == nil
            ? .truncatedHead(required: required, available: available)
            : .truncatedRecord(required: required, available: available)
        throw .init(fault, record: number, at: position)
    }
}

extension WireRegion {
    /// Throws if a block's body is shorter than a number of bytes.
    func require(_ count: Int, _ number: Int?) throws(CaptureError) {
        guard self.count < count else { return }
        throw .init(.invalidBlockLength(UInt32(clamping: self.count + 12)), record: number, at: start - 4)
    }
}

/// An interface description block: properties of the packets that refer to it.
private struct PcapngInterface {
    /// `LINKTYPE_*`.
    let linkType: UInt16
    /// The number of bytes that were kept of a packet; 0 for all.
    let snapLength: UInt32
    private var resolution: UInt8 = 6
    private var offset: Int64 = 0

    /// Decodes the body of a block of type 1.
    init(_ body: WireRegion, _ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        try body.require(8, number)
        linkType = body.load(0, bytes)
        snapLength = body.load(4, bytes)
        readOptions(body, bytes)
    }

    /// Reads `if_tsresol` and `if_tsoffset`; an option that exceeds the block ends the list.
    private mutating func readOptions(_ body: WireRegion, _ bytes: RawSpan) {
        var position = body.start + 8
        while body.end - position >= 4 {
            let option = WireRegion(start: position, end: body.end, isForeign: body.isForeign)
            let code: UInt16 = option.load(0, bytes)
            let length = Int(option.load(2, bytes) as UInt16)
            guard code != 0, option.count - 4 >= length else { return }
            if code == 9, length >= 1 { resolution = option.byte(4, bytes) }
            if code == 14, length >= 8 { offset = option.load(4, bytes) }
            position += 4 + (length + 3) & ~3
        }
    }

    /// Returns a timestamp in nanoseconds since 1970.
    ///
    /// The unit is a power of ten, or of two if the highest bit of `if_tsresol` is set.
    func nanoseconds(_ ticks: UInt64) -> Int64 {
        let exponent = Int128(resolution & 0x7F)
        var time = Int128(ticks)
        if resolution & 0x80 != 0 {
            time = (time * 1_000_000_000) >> exponent
        } else {
            for _ in 0..<max(0, 9 - exponent) { time *= 10 }
            // A timestamp has at most twenty digits.
            for _ in 0..<min(max(0, exponent - 9), 20) { time /= 10 }
        }
        return Int64(clamping: time + Int128(offset) * 1_000_000_000)
    }
}

/// A packet block: enhanced (6), simple (3) or the obsolete one (2).
private struct PcapngPacket {
    private let interface: UInt32
    private let ticks: UInt64?
    private let headerSize: Int
    /// The number of bytes that were kept; nil if only the interface's limit is known.
    private let length: UInt32?
    private let originalLength: UInt32

    /// Decodes the fixed-size part of a block.
    init(_ type: UInt32, _ body: WireRegion, _ bytes: RawSpan, _ number: Int) throws(CaptureError) {
        headerSize = type == 3 ? 4 : 20
        try body.require(headerSize, number)
        guard type != 3 else {
            interface = 0
            ticks = nil
            length = nil
            originalLength = body.load(0, bytes)
            return
        }
        interface = type == 6 ? body.load(0, bytes) : UInt32(body.load(0, bytes) as UInt16)
        ticks = UInt64(body.load(4, bytes) as UInt32) << 32 | UInt64(body.load(8, bytes) as UInt32)
        length = body.load(12, bytes)
        originalLength = body.load(16, bytes)
    }

    /// Returns the packet with the properties of its interface.
    func captured(
        on interfaces: [PcapngInterface],
        at offset: Int,
        _ body: WireRegion,
        _ number: Int
    ) throws(CaptureError) -> CapturedPacket {
        guard interface < interfaces.count else {
            throw .init(.unknownInterface(interface), record: number, at: body.start)
        }
        let description = interfaces[Int(interface)]
        let limit = description.snapLength == 0 ? UInt32.max : description.snapLength
        let kept = length ?? min(originalLength, limit)
        guard kept <= body.count - headerSize else {
            let required = headerSize + Int(kept)
            throw .init(.truncatedRecord(required: required, available: body.count), record: number, at: offset)
        }
        let start = body.start + headerSize
        return .init(
            offset: offset,
            time: ticks.map(description.nanoseconds) ?? 0,
            linkType: description.linkType,
            hasNetlinkInterface: interfaces.contains { $0.linkType == CookedHeader.linkType },
            data: .init(start: start, end: start + Int(kept), isForeign: body.isForeign),
            originalLength: Int(originalLength),
            byteOrder: body.isForeign ? .host.opposite : .host
        )
    }
}
