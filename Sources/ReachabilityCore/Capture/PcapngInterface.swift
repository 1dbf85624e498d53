/// What an interface description block says of the packets that name it.
struct PcapngInterface {
    /// `LINKTYPE_*`.
    let linkType: UInt16
    /// The most bytes that were kept of a packet; 0 for all.
    let snapLength: UInt32
    private var resolution: UInt8 = 6
    private var offset: Int64 = 0

    /// Reads the body of a block of type 1.
    init(_ body: WireRegion, _ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        try body.require(8, number)
        linkType = body.load(0, bytes)
        snapLength = body.load(4, bytes)
        readOptions(body, bytes)
    }

    /// Reads `if_tsresol` and `if_tsoffset`; options that run past the block end the list.
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

    /// A time stamp in nanoseconds since 1970.
    ///
    /// The unit is a power of ten, or of two if the highest bit says so: `if_tsresol`.
    func nanoseconds(_ ticks: UInt64) -> Int64 {
        let exponent = Int128(resolution & 0x7F)
        var time = Int128(ticks)
        if resolution & 0x80 != 0 {
            time = (time * 1_000_000_000) >> exponent
        } else {
            for _ in 0..<max(0, 9 - exponent) { time *= 10 }
            // A time stamp has no more than twenty digits.
            for _ in 0..<min(max(0, exponent - 9), 20) { time /= 10 }
        }
        return Int64(clamping: time + Int128(offset) * 1_000_000_000)
    }
}

/// One packet block: enhanced (6), simple (3) or the obsolete one (2).
struct PcapngPacket {
    private let interface: UInt32
    private let ticks: UInt64?
    private let headSize: Int
    /// How many bytes are kept; nil if only the interface's limit tells.
    private let length: UInt32?
    private let originalLength: UInt32

    /// Reads the fixed part of a block.
    init(_ type: UInt32, _ body: WireRegion, _ bytes: RawSpan, _ number: Int) throws(CaptureError) {
        headSize = type == 3 ? 4 : 20
        try body.require(headSize, number)
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

    /// The packet, with what its interface says of it.
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
        guard kept <= body.count - headSize else {
            let required = headSize + Int(kept)
            throw .init(.truncatedRecord(required: required, available: body.count), record: number, at: offset)
        }
        let start = body.start + headSize
        return .init(
            offset: offset,
            time: ticks.map(description.nanoseconds) ?? 0,
            linkType: description.linkType,
            isBesideNetlink: interfaces.contains { $0.linkType == CookedHeader.linkType },
            data: .init(start: start, end: start + Int(kept), isForeign: body.isForeign),
            originalLength: Int(originalLength),
            byteOrder: body.isForeign ? .host.opposite : .host
        )
    }
}
