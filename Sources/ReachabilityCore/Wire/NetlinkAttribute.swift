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

/// The header of a netlink message: `struct nlmsghdr` (netlink(7)).
package struct NetlinkHeader: Sendable, Hashable {
    /// The length of the message in bytes, header included.
    package var length: UInt32
    /// `RTM_*`, `NLMSG_*` or a generic netlink family's number.
    package var type: UInt16
    /// `NLM_F_*`.
    package var flags: NetlinkFlags
    /// The sequence number, chosen by the sender of a request; a notification repeats that of the request that caused it.
    package var sequence: UInt32
    /// The port of the request's sender, or 0.
    package var port: UInt32

    /// Creates a header from its fields.
    package init(length: UInt32, type: UInt16, flags: NetlinkFlags, sequence: UInt32, port: UInt32) {
        self.length = length
        self.type = type
        self.flags = flags
        self.sequence = sequence
        self.port = port
    }

    /// `sizeof(struct nlmsghdr)`.
    package static let size = 16
}

/// `NLM_F_*`: some bits have one meaning in a request and another in a reply or a notification.
package struct NetlinkFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt16
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `NLM_F_REQUEST`.
    package static let request = Self(rawValue: 0x01)
    /// `NLM_F_MULTI`: part of a multipart reply that ends with `NLMSG_DONE`.
    package static let multi = Self(rawValue: 0x02)
    /// `NLM_F_ACK`.
    package static let acknowledge = Self(rawValue: 0x04)
    /// `NLM_F_DUMP_INTR`: the dump is inconsistent because something changed meanwhile.
    package static let dumpInterrupted = Self(rawValue: 0x10)
    /// `NLM_F_DUMP` of a request: `NLM_F_ROOT | NLM_F_MATCH`.
    package static let dump = Self(rawValue: 0x300)
    /// `NLM_F_REPLACE` of a request or a notification.
    package static let replace = Self(rawValue: 0x100)
    /// `NLM_F_EXCL`.
    package static let exclusive = Self(rawValue: 0x200)
    /// `NLM_F_CREATE`.
    package static let create = Self(rawValue: 0x400)
    /// `NLM_F_APPEND`.
    package static let append = Self(rawValue: 0x800)
    /// `NLM_F_ACK_TLVS` of an `NLMSG_ERROR`: extended acknowledgement attributes follow.
    package static let extendedAcknowledge = Self(rawValue: 0x200)
}

// MARK: - Numbers that several messages share, by the kernel's short names (include/uapi/linux/)

/// `NLMSG_*`: control messages, below `NLMSG_MIN_TYPE` (`netlink.h`).
enum NLMSG {
    static let noop: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let minType: UInt16 = 16
}

/// `RTM_*`: the message types of NETLINK_ROUTE (`rtnetlink.h`), in groups of four: new, del, get, set.
enum RTM {
    static let newLink: UInt16 = 16
    static let delLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddr: UInt16 = 20
    static let delAddr: UInt16 = 21
    static let getAddr: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let delRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newNeigh: UInt16 = 28
    static let delNeigh: UInt16 = 29
    static let getNeigh: UInt16 = 30
    static let newRule: UInt16 = 32
    static let delRule: UInt16 = 33
    static let getRule: UInt16 = 34
    static let newNDUserOption: UInt16 = 68
    static let newNetconf: UInt16 = 80
    static let delNetconf: UInt16 = 81
    static let getNetconf: UInt16 = 82
    static let newStats: UInt16 = 92
    static let getStats: UInt16 = 94
    static let newNexthop: UInt16 = 104
    static let delNexthop: UInt16 = 105
    static let getNexthop: UInt16 = 106
}

/// Generic netlink: `struct genlmsghdr` and `nlctrl` (`genetlink.h`).
enum GENL {
    /// `GENL_ID_CTRL`: the message type of `nlctrl`, and the number of its group `notify`.
    static let control: UInt16 = 0x10
    /// `sizeof(struct genlmsghdr)`: command, version, two reserved bytes.
    static let headerSize = 4
}

/// `AF_*`: the address families in netlink headers (`socket.h`).
enum AF {
    static let unspec: UInt8 = 0
    static let inet: UInt8 = 2
    static let bridge: UInt8 = 7
    static let inet6: UInt8 = 10
}
