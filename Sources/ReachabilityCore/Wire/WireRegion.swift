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
