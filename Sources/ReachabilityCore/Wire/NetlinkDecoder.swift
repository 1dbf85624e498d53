/// Turns netlink datagrams into values: the one way from bytes to ``KernelEvent``, for sockets and captures alike.
///
/// It reads any bytes whatever: each step is checked against the bounds, and what is malformed is an error with its
/// place, never a trap. What is unknown (types, families, attributes) is passed over, as newer kernels send more; of
/// an attribute that comes twice the later one counts, as in the kernel's `nla_parse`.
public struct NetlinkDecoder: Sendable {
    /// The order of the machine that wrote the messages.
    public var byteOrder: ByteOrder
    /// Which netlink family the datagrams belong to: ``route``, ``generic`` or ``uevent``; all else is
    /// ``KernelEvent/ignored``.
    public var protocolNumber: UInt16
    /// Whether routes that are not default-like are ``KernelEvent/ignored`` by their prefix length alone.
    ///
    /// Their attributes are then not looked at, so that a large table costs next to nothing.
    public var defaultLikeRoutesOnly: Bool

    /// Whether links' messages are read as ``KernelEvent/traffic(_:)``, for kernels that have no `RTM_GETSTATS`.
    public var readsTraffic = false

    /// The families of generic netlink whose messages are read; ``KernelEvent/family(_:)`` tells of them.
    public var families: GenericFamilies

    /// `NETLINK_ROUTE`.
    public static let route: UInt16 = 0
    /// `NETLINK_GENERIC`.
    public static let generic: UInt16 = 16
    /// `NETLINK_KOBJECT_UEVENT`.
    public static let uevent: UInt16 = 15

    /// Makes a decoder; by default for rtnetlink of this machine.
    public init(
        byteOrder: ByteOrder = .host,
        protocolNumber: UInt16 = Self.route,
        defaultLikeRoutesOnly: Bool = false,
        families: GenericFamilies = .init()
    ) {
        self.byteOrder = byteOrder
        self.protocolNumber = protocolNumber
        self.defaultLikeRoutesOnly = defaultLikeRoutesOnly
        self.families = families
    }

    /// Decodes every message of a datagram, in order.
    ///
    /// - Parameters:
    ///   - bytes: The datagram, as recvmsg(2) or a capture gave it.
    ///   - start: Where to begin: 0, or an error's ``NetlinkDecodeError/nextMessageOffset`` to go on behind it.
    ///   - body: Called with each message's head and meaning before the next one is looked at. A uevent, which has
    ///     no head, is given one of type 0 with its length.
    /// - Throws: The first fault. The messages before it have been handed to `body`.
    public func decode(
        _ bytes: RawSpan,
        from start: Int = 0,
        _ body: (NetlinkHeader, KernelEvent) -> Void
    ) throws(NetlinkDecodeError) {
        guard protocolNumber != Self.uevent else { return try decodeUevent(bytes, body) }
        var position = max(0, start)
        while position < bytes.byteCount, !isPadding(at: position, bytes) {
            let header = try header(at: position, bytes)
            let end = position + Int(header.length)
            let next = min((end + 3) & ~3, bytes.byteCount)
            let payload = WireRegion(start: position + NetlinkHeader.size, end: end, isForeign: isForeign)
            do {
                body(header, try event(header, payload, bytes))
            } catch {
                throw error.located(in: header, at: position, next: next < bytes.byteCount ? next : nil)
            }
            position = next
        }
    }

    private var isForeign: Bool { byteOrder != .host }

    /// Whether nothing but zeros lies where a head would be, behind a message: ip(8) sends its whole buffer.
    ///
    /// The kernel passes over what follows a message and is none (`netlink_rcv_skb`).
    private func isPadding(at position: Int, _ bytes: RawSpan) -> Bool {
        guard position > 0 else { return false }
        let end = min(position + NetlinkHeader.size, bytes.byteCount)
        return (position..<end).allSatisfy { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
    }

    /// Reads a head and holds its length against what is left.
    private func header(at position: Int, _ bytes: RawSpan) throws(NetlinkDecodeError) -> NetlinkHeader {
        let rest = WireRegion(start: position, end: bytes.byteCount, isForeign: isForeign)
        guard rest.count >= NetlinkHeader.size else {
            throw .init(.truncatedHeader(available: rest.count), at: position)
        }
        let header = NetlinkHeader(
            length: rest.load(0, bytes),
            type: rest.load(4, bytes),
            flags: .init(rawValue: rest.load(6, bytes)),
            sequence: rest.load(8, bytes),
            port: rest.load(12, bytes)
        )
        guard header.length >= NetlinkHeader.size else {
            throw .init(.invalidLength(header.length), at: position)
        }
        guard header.length <= rest.count else {
            throw NetlinkDecodeError(.truncatedMessage(length: header.length, available: rest.count), at: position)
                .located(in: header, at: position, next: nil)
        }
        return header
    }

    private func decodeUevent(
        _ bytes: RawSpan,
        _ body: (NetlinkHeader, KernelEvent) -> Void
    ) throws(NetlinkDecodeError) {
        let length = UInt32(clamping: bytes.byteCount)
        let header = NetlinkHeader(length: length, type: 0, flags: [], sequence: 0, port: 0)
        body(header, try UeventMessage(datagram: bytes).map(KernelEvent.uevent) ?? .ignored)
    }
}

extension NetlinkDecodeError {
    /// The error, told of the message in which it was found.
    fileprivate func located(in header: NetlinkHeader, at position: Int, next: Int?) -> Self {
        var error = self
        error.messageOffset = position
        error.messageType = header.type
        error.nextMessageOffset = next
        return error
    }
}
