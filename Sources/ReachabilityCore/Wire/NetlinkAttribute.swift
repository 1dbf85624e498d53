/// A region of a datagram: its bounds and byte order, without the bytes.
///
/// The functions that read take the bytes as a span. Positions are checked against the region's end, which was checked
/// against the span when the region was created.
struct WireRegion {
    /// The offset of the region in the span.
    let start: Int
    /// The offset of its end; never past the span's.
    let end: Int
    /// Whether the bytes are in the other order than this machine's.
    let isForeign: Bool

    /// The number of bytes.
    var count: Int { end - start }

    /// Throws if the region is shorter than a message's fixed-size part.
    @inline(__always)
    func require(_ count: Int) throws(NetlinkDecodeError) {
        guard self.count >= count else {
            throw .init(.truncatedBody(required: count, available: self.count), at: start)
        }
    }

    /// Returns the integer at an offset in this machine's byte order; the caller has required its bytes.
    @inline(__always)
    func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ bytes: RawSpan) -> Value {
        let value = bytes.unsafeLoadUnaligned(fromByteOffset: start + offset, as: Value.self)
        return isForeign ? value.byteSwapped : value
    }

    /// Returns the byte at an offset; the caller has required it.
    @inline(__always)
    func byte(_ offset: Int, _ bytes: RawSpan) -> UInt8 {
        bytes.unsafeLoad(fromByteOffset: start + offset, as: UInt8.self)
    }

    /// Returns the attributes after a fixed-size part; they begin at the next multiple of four.
    @inline(__always)
    func attributes(after count: Int) -> AttributeCursor {
        .init(position: min(start + (count + 3) & ~3, end), end: end, isForeign: isForeign)
    }
}

/// An iterator over attributes: `struct nlattr` and payload, each aligned to four bytes (netlink(7)).
struct AttributeCursor {
    /// The offset of the next attribute.
    var position: Int
    /// The offset of the list's end.
    let end: Int
    /// Whether the bytes are in the other order than this machine's.
    let isForeign: Bool

    /// Returns the next attribute, or nil after the last; fewer bytes than a header has are padding, as in the kernel.
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

/// An attribute of a message.
///
/// The functions that read its payload take the datagram's bytes, and the attribute's name for the error.
struct NetlinkAttribute {
    /// `nla_type` without its flags.
    let type: UInt16
    /// The region of the payload.
    let payload: WireRegion

    /// `NLA_TYPE_MASK`: the type without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
    static let typeMask: UInt16 = 0x3FFF

    /// Throws if the payload is shorter than a number of bytes.
    @inline(__always)
    func require(_ count: Int, _ name: String) throws(NetlinkDecodeError) {
        guard payload.count >= count else {
            throw .init(.shortAttribute(name, required: count, available: payload.count), at: payload.start - 4)
        }
    }

    /// Returns the payload as an integer in the message's byte order.
    @inline(__always)
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan,
        _ name: String,
        at offset: Int = 0
    ) throws(NetlinkDecodeError) -> Value {
        try require(offset + Value.bitWidth / 8, name)
        return payload.load(offset, bytes)
    }

    /// Returns the payload as an interface index, or nil for 0, which means none.
    func interfaceIndex(_ bytes: RawSpan, _ name: String) throws(NetlinkDecodeError) -> InterfaceIndex? {
        let index: InterfaceIndex = try integer(bytes, name)
        return index == 0 ? nil : index
    }

    /// Returns the payload as an integer in network byte order, whatever the message's byte order.
    @inline(__always)
    func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan,
        _ name: String
    ) throws(NetlinkDecodeError) -> Value {
        try require(Value.bitWidth / 8, name)
        return Value(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: payload.start, as: Value.self))
    }

    /// Returns the address at an offset in the payload, in network byte order.
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

    /// Returns the payload up to its first NUL as text; invalid UTF-8 is replaced.
    func text(_ bytes: RawSpan) -> String {
        var end = payload.start
        while end < payload.end, bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 0 { end += 1 }
        return String(decodingUTF8: bytes, from: payload.start, to: end)
    }

    /// Returns the payload as bytes; throws if their number is outside the limits.
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
    var nested: AttributeCursor { payload.attributes(after: 0) }
}

extension String {
    /// Creates text from the bytes between two checked offsets of a span; invalid UTF-8 is replaced.
    init(decodingUTF8 bytes: RawSpan, from start: Int, to end: Int) {
        self = bytes.extracting(start..<end).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension WireRegion {
    /// Returns the prefix length at an offset, checked against the family's width.
    @inline(__always)
    func prefixLength(
        _ offset: Int,
        _ family: AddressFamily,
        _ bytes: RawSpan,
        _ name: String
    ) throws(NetlinkDecodeError) -> UInt8 {
        let length = byte(offset, bytes)
        guard length <= family.bitWidth else {
            throw .init(.invalidPrefixLength(name, length), at: start + offset)
        }
        return length
    }
}
