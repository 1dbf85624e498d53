/// A stretch of bytes being decoded: positions and byte order, without the bytes themselves.
///
/// The bytes are handed to each reading function as a span; every position is checked against the region's end, and
/// the region's end was checked against the span when the region was made.
struct WireRegion {
    /// Where the region begins in the span.
    let start: Int
    /// Where it ends; never past the span.
    let end: Int
    /// Whether the bytes are in the other order than this machine's.
    let isForeign: Bool

    /// How many bytes it has.
    var count: Int { end - start }

    /// Throws unless the region has at least a number of bytes: a message's fixed part.
    @inline(__always)
    func require(_ count: Int) throws(NetlinkDecodeError) {
        guard self.count >= count else {
            throw .init(.truncatedBody(required: count, available: self.count), at: start)
        }
    }

    /// The integer at a distance from the start, in the machine's order; the caller has required its bytes.
    @inline(__always)
    func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ bytes: RawSpan) -> Value {
        let value = bytes.unsafeLoadUnaligned(fromByteOffset: start + offset, as: Value.self)
        return isForeign ? value.byteSwapped : value
    }

    /// The byte at a distance from the start; the caller has required it.
    @inline(__always)
    func byte(_ offset: Int, _ bytes: RawSpan) -> UInt8 {
        bytes.unsafeLoad(fromByteOffset: start + offset, as: UInt8.self)
    }

    /// What follows a fixed part of a number of bytes: attributes begin at the next multiple of four.
    @inline(__always)
    func attributes(behind count: Int) -> AttributeCursor {
        .init(position: min(start + (count + 3) & ~3, end), end: end, isForeign: isForeign)
    }
}

/// Walks a list of attributes: `struct nlattr` and payload, each aligned to four bytes (netlink(7)).
struct AttributeCursor {
    /// Where the next attribute begins.
    var position: Int
    /// Where the list ends.
    let end: Int
    /// Whether the bytes are in the other order than this machine's.
    let isForeign: Bool

    /// The next attribute, or nil behind the last; fewer bytes than a head has are padding, as the kernel takes them.
    @inline(__always)
    mutating func next(_ bytes: RawSpan) throws(NetlinkDecodeError) -> NetlinkAttribute? {
        guard end - position >= 4 else { return nil }
        let head = WireRegion(start: position, end: end, isForeign: isForeign)
        let length: UInt16 = head.load(0, bytes)
        let type: UInt16 = head.load(2, bytes)
        let finish = position + Int(length)
        guard length >= 4, finish <= end else {
            let fault = NetlinkDecodeError.Fault.invalidAttributeLength(
                type: type & NetlinkAttribute.typeMask,
                length: length,
                available: end - position
            )
            throw .init(fault, at: position)
        }
        defer { position = min((finish + 3) & ~3, end) }
        return .init(
            type: type & NetlinkAttribute.typeMask,
            payload: .init(start: position + 4, end: finish, isForeign: isForeign)
        )
    }
}

/// One attribute found in a message; its value is read with the bytes handed in.
///
/// Each reader is given the kernel's name of the attribute, for the error.
struct NetlinkAttribute {
    /// `nla_type` without its flags.
    let type: UInt16
    /// The payload's place.
    let payload: WireRegion

    /// `NLA_TYPE_MASK`: without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
    static let typeMask: UInt16 = 0x3FFF

    /// Throws unless the payload has at least a number of bytes.
    @inline(__always)
    func require(_ count: Int, _ name: String) throws(NetlinkDecodeError) {
        guard payload.count >= count else {
            throw .init(.shortAttribute(name, required: count, available: payload.count), at: payload.start - 4)
        }
    }

    /// The payload as an integer in the order of the message.
    @inline(__always)
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan,
        _ name: String,
        at offset: Int = 0
    ) throws(NetlinkDecodeError) -> Value {
        try require(offset + Value.bitWidth / 8, name)
        return payload.load(offset, bytes)
    }

    /// The payload as an integer in network order, whatever the order of the message.
    @inline(__always)
    func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan,
        _ name: String
    ) throws(NetlinkDecodeError) -> Value {
        try require(Value.bitWidth / 8, name)
        return Value(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: payload.start, as: Value.self))
    }

    /// The payload from a distance on as an address, which is in network order.
    @inline(__always)
    func address(
        _ family: AddressFamily,
        _ bytes: RawSpan,
        _ name: String,
        at offset: Int = 0
    ) throws(NetlinkDecodeError) -> IPAddress {
        try require(offset + family.bitWidth / 8, name)
        let start = payload.start + offset
        if family == .ipv4 {
            return .init(ipv4: .init(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self)))
        }
        let upper = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        let lower = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        return .init(family: .ipv6, bits: UInt128(upper) << 64 | UInt128(lower))
    }

    /// The payload up to its first NUL as text; what is not UTF-8 in it is replaced.
    func text(_ bytes: RawSpan) -> String {
        var end = payload.start
        while end < payload.end, bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 0 { end += 1 }
        return String(decodingUTF8: bytes, from: payload.start, to: end)
    }

    /// The payload as bytes, of which there may be so many and no more.
    func bytes(_ limits: ClosedRange<Int>, _ bytes: RawSpan, _ name: String) throws(NetlinkDecodeError) -> [UInt8] {
        try require(limits.lowerBound, name)
        guard payload.count <= limits.upperBound else {
            let fault = NetlinkDecodeError.Fault.longAttribute(
                name,
                limit: limits.upperBound,
                available: payload.count
            )
            throw .init(fault, at: payload.start - 4)
        }
        return bytes.extracting(payload.start..<payload.end).withUnsafeBytes { [UInt8]($0) }
    }

    /// The attributes nested in the payload.
    var nested: AttributeCursor { payload.attributes(behind: 0) }
}

extension String {
    /// Makes text of the bytes of a span between two checked positions; what is not UTF-8 is replaced.
    init(decodingUTF8 bytes: RawSpan, from start: Int, to end: Int) {
        self = bytes.extracting(start..<end).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
