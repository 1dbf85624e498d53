/// Decodes netlink datagrams, from sockets and captures alike, into values of ``KernelEvent``.
///
/// The input may be any bytes: every access is checked against the bounds, and malformed input is an error with its
/// position, never a trap. Unknown types, families and attributes are ignored, because newer kernels send more. If an
/// attribute occurs twice, the later one counts, as in the kernel's `nla_parse`.
package struct NetlinkDecoder: Sendable {
    /// The byte order of the machine that wrote the messages.
    package var byteOrder: ByteOrder
    /// The netlink family of the datagrams: ``route``, ``generic`` or ``uevent``; messages of any other are
    /// ``KernelEvent/ignored``.
    package var protocolNumber: UInt16
    /// Whether routes that are not default-like are ``KernelEvent/ignored``.
    ///
    /// The prefix length decides; attributes are then not decoded, so that large tables cost little.
    package var defaultLikeRoutesOnly: Bool

    /// Whether link messages are decoded as ``KernelEvent/traffic(_:)``, for kernels without `RTM_GETSTATS`.
    package var readsTraffic = false

    /// The generic netlink families whose messages are decoded, as announced by ``KernelEvent/family(_:)``.
    package var families: GenericFamilies

    /// `NETLINK_ROUTE`.
    package static let route: UInt16 = 0
    /// `NETLINK_GENERIC`.
    package static let generic: UInt16 = 16
    /// `NETLINK_KOBJECT_UEVENT`.
    package static let uevent: UInt16 = 15

    /// Creates a decoder; by default for rtnetlink messages of this machine.
    package init(
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
    ///   - start: The offset to begin at: 0, or ``NetlinkDecodeError/nextMessageOffset`` to continue after an error.
    ///   - body: Called with the header and the content of each message before the next one is decoded. A uevent,
    ///     which has no header, gets one of type 0 with its length.
    /// - Throws: The first error. `body` has been called with the messages before it.
    package func decode(
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

    /// Returns whether only zeros follow a message: ip(8) sends its whole buffer.
    ///
    /// The kernel ignores data after a message that is no message (`netlink_rcv_skb`).
    private func isPadding(at position: Int, _ bytes: RawSpan) -> Bool {
        guard position > 0 else { return false }
        let end = min(position + NetlinkHeader.size, bytes.byteCount)
        return (position..<end).allSatisfy { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
    }

    /// Decodes a header and checks its length against the rest of the datagram.
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

// MARK: - Message types

extension NetlinkDecoder {
    /// Decodes a message.
    private func event(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        guard protocolNumber == Self.route || protocolNumber == Self.generic else { return .ignored }
        guard header.type >= NLMSG.minType else { return try control(header, payload, bytes) }
        guard protocolNumber == Self.route else { return try genericEvent(header, payload, bytes) }
        if header.flags.contains(.request), !Self.isNotification(header) {
            return try NetlinkRequest(header, payload, bytes).map(KernelEvent.request) ?? .ignored
        }
        return try notification(header.type, payload, bytes)
    }

    /// Returns whether the kernel sent a message that has a request's flags.
    ///
    /// `nexthop_notify` gives its notifications the flags of the request that caused them, `NLM_F_REQUEST` included, and
    /// the port of its sender; a request as sent by ip(8) has no port.
    private static func isNotification(_ header: NetlinkHeader) -> Bool {
        (header.type == RTM.newNexthop || header.type == RTM.delNexthop) && header.port != 0
    }

    /// Decodes a message about one of the kernel's tables, a reply or a notification.
    private func notification(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch type {
        case RTM.newRoute, RTM.delRoute: return try route(type, payload, bytes)
        case RTM.newLink where readsTraffic:
            return try TrafficMessage(link: payload, bytes).map(KernelEvent.traffic) ?? .ignored
        case RTM.newLink: return try LinkMessage(payload, bytes).map(KernelEvent.link) ?? .ignored
        case RTM.delLink: return try LinkMessage(payload, bytes).map(KernelEvent.linkRemoved) ?? .ignored
        case RTM.newAddr: return try AddressMessage(payload, bytes).map(KernelEvent.address) ?? .ignored
        case RTM.delAddr: return try AddressMessage(payload, bytes).map(KernelEvent.addressRemoved) ?? .ignored
        case RTM.newNeigh: return try NeighbourMessage(payload, bytes).map(KernelEvent.neighbour) ?? .ignored
        case RTM.delNeigh: return try NeighbourMessage(payload, bytes).map(KernelEvent.neighbourRemoved) ?? .ignored
        default: return try configuration(type, payload, bytes)
        }
    }

    private func configuration(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch type {
        case RTM.newRule: try RuleMessage(payload, bytes).map(KernelEvent.rule) ?? .ignored
        case RTM.delRule: try RuleMessage(payload, bytes).map(KernelEvent.ruleRemoved) ?? .ignored
        case RTM.newNexthop: .nexthop(try .init(payload, bytes))
        case RTM.delNexthop: .nexthopRemoved(try .init(payload, bytes))
        case RTM.newNetconf: try NetconfMessage(payload, bytes).map(KernelEvent.netconf) ?? .ignored
        case RTM.delNetconf: try NetconfMessage(payload, bytes).map(KernelEvent.netconfRemoved) ?? .ignored
        case RTM.newNDUserOption: try RouterOptionMessage(payload, bytes).map(KernelEvent.routerOption) ?? .ignored
        case RTM.newStats: try TrafficMessage(payload, bytes).map(KernelEvent.traffic) ?? .ignored
        default: .ignored
        }
    }

    /// Decodes a route, unless only default-like routes are wanted and `rtm_dst_len` shows that this is none.
    private func route(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        try payload.require(RouteMessage.bodySize)
        let isWanted = payload.byte(1, bytes) <= RouteMessage.longestDefaultLikePrefix
        guard !defaultLikeRoutesOnly || isWanted || isLookupResult(payload, bytes) else { return .ignored }
        guard let message = try RouteMessage(payload, bytes) else { return .ignored }
        return type == RTM.newRoute ? .route(message) : .routeRemoved(message)
    }

    /// Returns whether a route is the lookup of a tunnel's remote address, not a route of a table.
    private func isLookupResult(_ payload: WireRegion, _ bytes: RawSpan) -> Bool {
        payload.byte(1, bytes) >= 32 && payload.load(8, bytes) & RouteMessage.cloned != 0
    }

    /// Decodes a control message, `NLMSG_*`; the kernel negates errnos.
    private func control(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch header.type {
        case NLMSG.done:
            // Some replies end without an errno. A positive number is a length, sent by old kernels.
            let value: Int32 = payload.count >= 4 ? payload.load(0, bytes) : 0
            return .done(errno: value < 0 ? Int32(clamping: value.magnitude) : 0)
        case NLMSG.error:
            try payload.require(4)
            return .error(errno: Int32(clamping: (payload.load(0, bytes) as Int32).magnitude))
        case NLMSG.overrun: return .overrun
        default: return .ignored
        }
    }

    /// Decodes a generic netlink message; unknown families are ignored.
    private func genericEvent(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        try payload.require(GENL.headerSize)
        let command = payload.byte(0, bytes)
        if header.flags.contains(.request) {
            let asksForFamilies = header.type == GENL.control && command == CTRL.getFamily
            return asksForFamilies ? .familiesRequested : .ignored
        }
        switch header.type {
        case GENL.control where command == CTRL.newFamily:
            return try GenericFamily(payload, bytes).map(KernelEvent.family) ?? .ignored
        case families.nl80211:
            return try WirelessMessage(command, payload, bytes).map(KernelEvent.wireless) ?? .ignored
        case families.wireGuard:
            return try WireGuardMessage(command, payload, bytes).map(KernelEvent.wireGuard) ?? .ignored
        case families.team: return try TeamMessage(command, payload, bytes).map(KernelEvent.team) ?? .ignored
        case families.l2tp: return try L2TPMessage(command, payload, bytes).map(KernelEvent.l2tp) ?? .ignored
        default: return .ignored
        }
    }
}

// MARK: - Byte order

extension NetlinkDecoder {
    /// Returns the byte order in which the length of a datagram's first message is possible, or nil if both or neither are.
    ///
    /// The byte order of a capture file is that of the program that wrote it, which may have run on another machine.
    package static func byteOrder(of bytes: RawSpan) -> ByteOrder? {
        guard bytes.byteCount >= NetlinkHeader.size else { return nil }
        let length = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let possible = NetlinkHeader.size...bytes.byteCount
        let isNative = possible.contains(Int(length))
        guard isNative != possible.contains(Int(length.byteSwapped)) else { return nil }
        return isNative ? .host : .host.opposite
    }
}

extension NetlinkDecodeError {
    /// Returns the error with the message in which it occurred.
    fileprivate func located(in header: NetlinkHeader, at position: Int, next: Int?) -> Self {
        var error = self
        error.messageOffset = position
        error.messageType = header.type
        error.nextMessageOffset = next
        return error
    }
}

/// An error in the bytes of a netlink message, with its position.
package struct NetlinkDecodeError: Error, Sendable, Hashable {
    /// The error.
    package var fault: Fault
    /// The position of the error: an offset in bytes from the start of the datagram.
    package var offset: Int
    /// The offset of the message that contains the error.
    package var messageOffset: Int
    /// The type of that message; nil if its header could not be read.
    package var messageType: UInt16?
    /// The offset of the next message; nil if it is unknown or if there is none.
    ///
    /// Pass it to ``NetlinkDecoder/decode(_:from:_:)`` to continue.
    package var nextMessageOffset: Int?

    /// The kinds of errors in a message.
    package enum Fault: Sendable, Hashable {
        /// Fewer bytes remain than a header has.
        case truncatedHeader(available: Int)
        /// `nlmsg_len` is smaller than a header.
        case invalidLength(UInt32)
        /// `nlmsg_len` is larger than the rest of the datagram.
        case truncatedMessage(length: UInt32, available: Int)
        /// The payload is smaller than the type's fixed part.
        case truncatedBody(required: Int, available: Int)
        /// An attribute's length is smaller than its header or larger than the rest of the message.
        case invalidAttributeLength(type: UInt16, length: UInt16, available: Int)
        /// The length of an entry in an attribute is smaller than its header or larger than the rest of the attribute.
        case invalidEntryLength(attribute: String, length: UInt16, available: Int)
        /// An attribute is shorter than its type requires.
        case shortAttribute(String, required: Int, available: Int)
        /// An attribute is longer than its type allows.
        case longAttribute(String, limit: Int, available: Int)
        /// A required attribute is missing.
        case missingAttribute(String)
        /// A prefix is longer than an address of its family.
        case invalidPrefixLength(String, UInt8)
        /// The first value of a range is greater than the last.
        case invalidRange(String)
        /// A uevent has no action, or text where a number belongs.
        case invalidUevent(String)
    }

    /// Creates an error; the decoder adds the message it is in.
    init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
        self.messageOffset = offset
    }
}

extension NetlinkDecodeError: CustomStringConvertible {
    /// A description of the error and its position.
    package var description: String {
        let message = messageType.map { "message of type \($0)" } ?? "message"
        return "\(message) at byte \(messageOffset): \(fault) (at byte \(offset))"
    }
}

extension NetlinkDecodeError.Fault: CustomStringConvertible {
    /// A description of the error.
    package var description: String {
        switch self {
        case .truncatedHeader(let available):
            "its header needs \(NetlinkHeader.size) bytes, \(available) are left"
        case .invalidLength(let length): "its length is \(length) bytes, less than a header"
        case .truncatedMessage(let length, let available): "its length is \(length) bytes, \(available) are left"
        case .truncatedBody(let required, let available):
            "its fixed-size part needs \(required) bytes, it has \(available)"
        case .invalidAttributeLength(let type, let length, let available):
            "the length of attribute \(type) is \(length) bytes, \(available) are left"
        case .invalidEntryLength(let attribute, let length, let available):
            "the length of an entry of \(attribute) is \(length) bytes, \(available) are left"
        case .shortAttribute(let name, let required, let available):
            "\(name) has \(available) bytes, \(required) are required"
        case .longAttribute(let name, let limit, let available):
            "\(name) has \(available) bytes, at most \(limit) are allowed"
        case .missingAttribute(let name): "\(name) is missing"
        case .invalidPrefixLength(let name, let length): "\(name) is \(length) bits, more than an address has"
        case .invalidRange(let name): "the range of \(name) ends before it begins"
        case .invalidUevent(let what): "uevent: \(what)"
        }
    }
}
