/// Builds the bytes of netlink messages: headers, attributes, nests, padding and lengths (netlink(7), rtnetlink(7)).
///
/// ```swift
/// var builder = NetlinkMessageBuilder(type: 24, flags: [.request, .acknowledge], sequence: 1)
/// builder.append(bytes: [2, 0, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0])      // struct rtmsg
/// builder.attribute(5, gateway)                                      // RTA_GATEWAY
/// builder.nested(8) { $0.attribute(2, UInt32(1280)) }                // RTA_METRICS { RTAX_MTU }
/// let bytes = builder.build()
/// ```
/// Numbers are written in ``byteOrder``. Messages and attributes start at a multiple of 4 bytes (`NLMSG_ALIGN`,
/// `NLA_ALIGN`). As in the kernel, the padding after an attribute counts towards the length of its message and its nest,
/// not towards its own. An attribute that is too long for a 16-bit length (a payload of more than 65,531 bytes) is left
/// out, as `nla_put` does.
public struct NetlinkMessageBuilder: Sendable {
    /// The byte order of numbers.
    public let byteOrder: ByteOrder
    private var bytes: [UInt8] = []
    private var messageStart = 0

    /// Begins the first message.
    public init(
        type: UInt16,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0,
        byteOrder: ByteOrder = .host
    ) {
        self.byteOrder = byteOrder
        bytes.reserveCapacity(128)
        appendHeader(type: type, flags: flags, sequence: sequence, port: port)
    }

    /// Ends the current message and begins the next one.
    public mutating func beginMessage(
        type: UInt16,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0
    ) {
        endMessage()
        align()
        messageStart = bytes.count
        appendHeader(type: type, flags: flags, sequence: sequence, port: port)
    }

    /// Ends the last message and returns the bytes of all messages.
    public consuming func build() -> [UInt8] {
        endMessage()
        return bytes
    }

    private mutating func appendHeader(type: UInt16, flags: NetlinkFlags, sequence: UInt32, port: UInt32) {
        append(UInt32(0))
        append(type)
        append(flags.rawValue)
        append(sequence)
        append(port)
    }

    private mutating func endMessage() {
        bytes.overwrite(at: messageStart, with: UInt32(bytes.count - messageStart), in: byteOrder)
    }
}

// MARK: - Data outside attributes

extension NetlinkMessageBuilder {
    /// Appends a number, as a field of a fixed-size header.
    public mutating func append(_ value: some FixedWidthInteger) {
        bytes.append(value, in: byteOrder)
    }

    /// Appends bytes.
    public mutating func append(bytes other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }

    /// Appends zeros up to the next multiple of 4 bytes.
    public mutating func align() {
        while bytes.count & 3 != 0 { bytes.append(0) }
    }

    /// Appends a structure that begins with its length in 16 bits, such as an entry of `RTA_MULTIPATH`.
    ///
    /// The body appends what follows the length. Padding at its end counts, as in `struct rtnexthop`.
    public mutating func record(_ body: (inout Self) throws -> Void) rethrows {
        align()
        let start = bytes.count
        append(UInt16(0))
        try body(&self)
        align()
        writeLength(from: start)
    }

    /// Writes the length of what was appended since `start`, or removes it if the length does not fit.
    private mutating func writeLength(from start: Int) {
        if let length = UInt16(exactly: bytes.count - start) {
            bytes.overwrite(at: start, with: length, in: byteOrder)
        } else {
            bytes.removeSubrange(start...)
        }
    }
}

// MARK: - Attributes

extension NetlinkMessageBuilder {
    /// `NLA_F_NESTED`: the attribute contains attributes.
    public static let nestedFlag: UInt16 = 0x8000

    /// Appends an attribute without a payload, a flag.
    public mutating func attribute(_ type: UInt16) {
        attribute(type, bytes: EmptyCollection())
    }

    /// Appends a number as wide as its Swift type.
    public mutating func attribute(_ type: UInt16, _ value: some FixedWidthInteger & UnsignedInteger) {
        attribute(type) { $0.append(value) }
    }

    /// Appends a number in network byte order, whatever ``byteOrder`` is.
    public mutating func attribute(_ type: UInt16, networkOrder value: some FixedWidthInteger & UnsignedInteger) {
        attribute(type) { $0.bytes.append(value, in: .big) }
    }

    /// Appends an interface index.
    public mutating func attribute(_ type: UInt16, index: InterfaceIndex) {
        attribute(type) { $0.append(index) }
    }

    /// Appends an address: 4 or 16 bytes in network byte order.
    public mutating func attribute(_ type: UInt16, _ address: IPAddress) {
        attribute(type) { $0.append(address) }
    }

    /// Appends a string with a terminating NUL.
    public mutating func attribute(_ type: UInt16, string: String) {
        attribute(type) { builder in
            builder.append(bytes: string.utf8)
            builder.append(UInt8(0))
        }
    }

    /// Appends bytes.
    public mutating func attribute(_ type: UInt16, bytes payload: some Sequence<UInt8>) {
        attribute(type) { $0.append(bytes: payload) }
    }

    /// Appends an attribute that contains attributes.
    ///
    /// - Parameters:
    ///   - type: The attribute's type.
    ///   - flagged: Whether to set ``nestedFlag``, which older attributes of rtnetlink do not have.
    ///   - body: Appends the inner attributes.
    public mutating func nested(
        _ type: UInt16,
        flagged: Bool = true,
        _ body: (inout Self) throws -> Void
    ) rethrows {
        try attribute(flagged ? type | Self.nestedFlag : type, body)
    }

    /// Appends an address without an attribute's header: 4 or 16 bytes in network byte order.
    public mutating func append(_ address: IPAddress) {
        switch address.family {
        case .ipv4: bytes.append(address.ipv4Value, in: .big)
        case .ipv6: bytes.append(address.bits, in: .big)
        }
    }

    /// Appends an attribute whose payload the body appends.
    ///
    /// The length covers header and payload, not the padding that follows. The last padding in a nest counts because it
    /// belongs to the nest's last attribute.
    private mutating func attribute(_ type: UInt16, _ payload: (inout Self) throws -> Void) rethrows {
        align()
        let start = bytes.count
        append(UInt16(0))
        append(type)
        try payload(&self)
        writeLength(from: start)
        align()
    }
}
