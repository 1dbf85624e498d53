/// Reads a pcapng file's packets (draft-ietf-opsawg-pcapng).
struct PcapngReader {
    private var position = 0
    private var isForeign = false
    private var interfaces: [PcapngInterface] = []

    /// The type of a section's head, the same in either byte order.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D
    /// Type and length before a block's body, and its length again behind it.
    private static let frameSize = 12

    /// The next packet, or nil at the end of the file; blocks that hold none are taken in or passed over.
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
    /// - Returns: Its type and its body.
    private mutating func block(_ bytes: RawSpan, _ number: Int?) throws(CaptureError) -> (UInt32, WireRegion) {
        try require(Self.frameSize, bytes, number)
        if (rest(bytes).load(0, bytes) as UInt32) == Self.sectionHeader { try readByteOrder(bytes, number) }
        let rest = rest(bytes)
        let length: UInt32 = rest.load(4, bytes)
        guard length >= Self.frameSize, length % 4 == 0 else {
            throw .init(.invalidBlockLength(length), record: number, at: position + 4)
        }
        guard length <= CapturedPacket.longest else {
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

    /// A section's byte order is known only by its own magic number, which lies behind the length.
    private mutating func readByteOrder(_ bytes: RawSpan, _ number: Int?) throws(CaptureError) {
        let magic = bytes.unsafeLoadUnaligned(fromByteOffset: position + 8, as: UInt32.self)
        guard magic == Self.byteOrderMagic || magic.byteSwapped == Self.byteOrderMagic else {
            throw .init(.unknownMagic(magic), record: number, at: position + 8)
        }
        isForeign = magic != Self.byteOrderMagic
    }

    /// Interfaces are numbered anew in each section.
    private mutating func beginSection(
        _ body: WireRegion,
        _ bytes: RawSpan,
        _ number: Int?
    ) throws(CaptureError) {
        try body.require(16, number)
        let major: UInt16 = body.load(4, bytes)
        let minor: UInt16 = body.load(6, bytes)
        // 1.2 is what some writers say for 1.0; the draft asks readers to take it as that.
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
    /// Throws unless a block's body has at least a number of bytes.
    func require(_ count: Int, _ number: Int?) throws(CaptureError) {
        guard self.count < count else { return }
        throw .init(.invalidBlockLength(UInt32(clamping: self.count + 12)), record: number, at: start - 4)
    }
}
