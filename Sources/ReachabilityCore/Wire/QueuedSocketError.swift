/// An error from a socket's error queue (`MSG_ERRQUEUE`, ip(7)): `struct sock_extended_err` in `linux/errqueue.h`.
///
/// The kernel queues ICMP errors about packets of a socket with `IP_RECVERR` or `IPV6_RECVERR`, without privilege.
package struct QueuedSocketError: Sendable, Hashable {
    /// The origin of an error.
    package enum Origin: UInt8, Sendable {
        /// `SO_EE_ORIGIN_LOCAL`: this machine, before the packet was sent.
        case local = 1
        /// `SO_EE_ORIGIN_ICMP`.
        case icmp = 2
        /// `SO_EE_ORIGIN_ICMP6`.
        case icmpv6 = 3
    }

    /// `ee_errno`.
    package var errno: Int32
    /// `ee_origin`.
    package var origin: Origin
    /// `ee_type`: of the ICMP message.
    package var type: UInt8
    /// `ee_code`: of the ICMP message.
    package var code: UInt8
    /// `ee_info`: the MTU, where the error is that a packet is too big.
    package var info: UInt32
    /// `SO_EE_OFFENDER`: the sender of the ICMP message; nil for a local error.
    package var offender: IPAddress?

    /// Creates an error.
    package init(errno: Int32, origin: Origin, type: UInt8, code: UInt8, info: UInt32, offender: IPAddress?) {
        self.errno = errno
        self.origin = origin
        self.type = type
        self.code = code
        self.info = info
        self.offender = offender
    }

    /// The meaning of the ICMP message; nil for a local error.
    package var icmpError: ICMPError? {
        switch origin {
        case .local: nil
        case .icmp: .init(.ipv4, type: type, code: code, mtu: info)
        case .icmpv6: .init(.ipv6, type: type, code: code, mtu: info)
        }
    }
}

// MARK: - Decoding

extension QueuedSocketError {
    /// Decodes the first error in the control messages of a datagram from the error queue (cmsg(3)).
    ///
    /// Returns nil if there is none, if a message is cut off, or if it is neither local nor ICMP, such as a timestamp.
    ///
    /// - Parameter bytes: The control messages, in this machine's byte order and with the alignment of its words.
    package init?(controlMessages bytes: RawSpan) {
        var cursor = ControlMessageCursor()
        while let message = cursor.next(bytes) {
            guard message.isQueuedError else { continue }
            self.init(bytes.extracting(message.payload))
            return
        }
        return nil
    }

    /// `sizeof(struct sock_extended_err)`.
    private static let size = 16

    /// Decodes the structure and the address behind it.
    private init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= Self.size, let origin = Origin(rawValue: bytes.load(4)) else { return nil }
        self.init(
            errno: Int32(truncatingIfNeeded: bytes.load(0) as UInt32),
            origin: origin,
            type: bytes.load(5),
            code: bytes.load(6),
            info: bytes.load(8),
            offender: IPAddress(socketAddress: bytes.extracting(Self.size..<bytes.byteCount))
        )
        guard origin == .local || offender != nil else { return nil }
    }
}

/// An iterator over control messages: `struct cmsghdr` and payload, each aligned to a word (cmsg(3)).
private struct ControlMessageCursor {
    private var position = 0

    /// `sizeof(struct cmsghdr)`: a word and two integers.
    private static let headerSize = MemoryLayout<UInt>.size + 8

    /// A control message.
    struct Message {
        var level: Int32
        var type: Int32
        /// The bytes of its payload in the buffer.
        var payload: Range<Int>

        /// Whether it is `IP_RECVERR` of `IPPROTO_IP`, or `IPV6_RECVERR` of `IPPROTO_IPV6`.
        var isQueuedError: Bool { (level, type) == (0, 11) || (level, type) == (41, 25) }
    }

    /// Returns the next message; nil after the last one, and at one that does not fit.
    mutating func next(_ bytes: RawSpan) -> Message? {
        let rest = bytes.byteCount - position
        guard rest >= Self.headerSize else { return nil }
        let length = bytes.load(position) as UInt
        guard length >= UInt(Self.headerSize), length <= UInt(rest) else { return nil }
        let start = position
        let word = MemoryLayout<UInt>.size
        position = min(start + (Int(length) + word - 1) / word * word, bytes.byteCount)
        return Message(
            level: bytes.load(start + word),
            type: bytes.load(start + word + 4),
            payload: (start + Self.headerSize)..<(start + Int(length))
        )
    }
}

extension IPAddress {
    /// Decodes `struct sockaddr_in` or `struct sockaddr_in6`; nil for another one, such as `AF_UNSPEC`, or one cut off.
    fileprivate init?(socketAddress bytes: RawSpan) {
        guard bytes.byteCount >= 8, let family = AddressFamily(rawValue: UInt8(clamping: bytes.load(0) as UInt16))
        else {
            return nil
        }
        switch family {
        case .ipv4: self.init(ipv4: .init(bigEndian: bytes.load(4)))
        case .ipv6:
            guard bytes.byteCount >= 24 else { return nil }
            let upper = UInt64(bigEndian: bytes.load(8))
            let lower = UInt64(bigEndian: bytes.load(16))
            self.init(family: .ipv6, bits: UInt128(upper) << 64 | UInt128(lower))
        }
    }
}

extension RawSpan {
    /// Returns the integer at an offset in this machine's byte order; traps past the end.
    fileprivate func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
        precondition(offset >= 0 && offset <= byteCount - MemoryLayout<Value>.size)
        return unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
    }
}
