/// Encodes values as netlink messages, which ``NetlinkDecoder`` decodes to the same values.
///
/// Recordings, tests and the seeds of fuzz targets are made with it. Attributes that ``KernelEvent`` does not hold are not
/// written; values that do not fit (a next hop's weight above 256) are clamped.
package struct NetlinkEncoder: Sendable {
    /// The byte order of numbers.
    package var byteOrder: ByteOrder
    /// The numbers of the generic netlink families, which are the types of their messages.
    package var families: GenericFamilies

    /// Creates an encoder; by default for this machine's byte order and without families.
    package init(byteOrder: ByteOrder = .host, families: GenericFamilies = .init()) {
        self.byteOrder = byteOrder
        self.families = families
    }

    /// Returns the bytes of a message, padded to a multiple of four so that a datagram can hold several.
    ///
    /// They belong to the netlink family ``KernelEvent/protocolNumber``; a uevent is a datagram of its own.
    /// ``KernelEvent/ignored`` is encoded as `NLMSG_NOOP`, as is a message of a family without a number.
    ///
    /// - Parameters:
    ///   - event: The message.
    ///   - flags: `NLM_F_*`, added to the flags of a request.
    ///   - sequence: `nlmsg_seq`.
    ///   - port: `nlmsg_pid`.
    /// - Returns: The message with its header.
    package func encode(
        _ event: KernelEvent,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0
    ) -> [UInt8] {
        if case .uevent(let message) = event { return message.datagram }
        let (type, ownFlags) = type(event)
        var builder = NetlinkMessageBuilder(
            type: type,
            flags: flags.union(ownFlags),
            sequence: sequence,
            port: port,
            byteOrder: byteOrder
        )
        if type != NLMSG.noop { Self.append(event, to: &builder) }
        builder.align()
        return builder.build()
    }

    /// Returns the message type and the flags that it implies.
    private func type(_ event: KernelEvent) -> (type: UInt16, flags: NetlinkFlags) {
        switch event {
        case .link: (RTM.newLink, [])
        case .linkRemoved: (RTM.delLink, [])
        case .address: (RTM.newAddr, [])
        case .addressRemoved: (RTM.delAddr, [])
        case .route: (RTM.newRoute, [])
        case .routeRemoved: (RTM.delRoute, [])
        case .rule: (RTM.newRule, [])
        case .ruleRemoved: (RTM.delRule, [])
        case .nexthop: (RTM.newNexthop, [])
        case .nexthopRemoved: (RTM.delNexthop, [])
        case .neighbour: (RTM.newNeigh, [])
        case .neighbourRemoved: (RTM.delNeigh, [])
        case .netconf: (RTM.newNetconf, [])
        case .netconfRemoved: (RTM.delNetconf, [])
        case .routerOption: (RTM.newNDUserOption, [])
        case .traffic: (RTM.newStats, [])
        case .request(let request): (request.subject.requestType, request.flags)
        case .done: (NLMSG.done, [])
        case .error: (NLMSG.error, [])
        case .overrun: (NLMSG.overrun, [])
        case .family: (GENL.control, [])
        case .familiesRequested: (GENL.control, [.request, .dump])
        case .wireless: (families.nl80211 == 0 ? NLMSG.noop : families.nl80211, [])
        case .wireGuard: (families.wireGuard == 0 ? NLMSG.noop : families.wireGuard, [])
        case .team: (families.team == 0 ? NLMSG.noop : families.team, [])
        case .l2tp: (families.l2tp == 0 ? NLMSG.noop : families.l2tp, [])
        case .uevent, .ignored: (NLMSG.noop, [])
        }
    }

    private static func append(_ event: KernelEvent, to builder: inout NetlinkMessageBuilder) {
        switch event {
        case .link(let message), .linkRemoved(let message): message.append(to: &builder)
        case .address(let message), .addressRemoved(let message): message.append(to: &builder)
        case .route(let message), .routeRemoved(let message): message.append(to: &builder)
        case .rule(let message), .ruleRemoved(let message): message.append(to: &builder)
        case .nexthop(let message), .nexthopRemoved(let message): message.append(to: &builder)
        case .neighbour(let message), .neighbourRemoved(let message): message.append(to: &builder)
        case .netconf(let message), .netconfRemoved(let message): message.append(to: &builder)
        case .routerOption(let message): message.append(to: &builder)
        case .traffic(let message): message.append(to: &builder)
        case .request(let request):
            request.subject.append(to: &builder, coversAllFamilies: request.coversAllFamilies)
        // The kernel writes errnos negative.
        case .done(let errno): builder.append(0 &- errno)
        case .error(let errno):
            builder.append(0 &- errno)
            // In place of the request's header, which `struct nlmsgerr` repeats.
            builder.append(bytes: repeatElement(0, count: NetlinkHeader.size))
        case .family(let family): family.append(to: &builder)
        case .familiesRequested: builder.append(bytes: [CTRL.getFamily, CTRL.version, 0, 0])
        case .wireless(let message): message.append(to: &builder)
        case .wireGuard(let message): message.append(to: &builder)
        case .team(let message): message.append(to: &builder)
        case .l2tp(let message): message.append(to: &builder)
        case .overrun, .uevent, .ignored: break
        }
    }
}

/// Builds the bytes of a netlink message: header, attributes, nests, padding and lengths (netlink(7), rtnetlink(7)).
///
/// ```swift
/// var builder = NetlinkMessageBuilder(type: 24, flags: [.request, .acknowledge], sequence: 1)
/// builder.append(bytes: [2, 0, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0])      // struct rtmsg
/// builder.attribute(5, gateway)                                      // RTA_GATEWAY
/// builder.nested(8) { $0.attribute(2, UInt32(1280)) }                // RTA_METRICS { RTAX_MTU }
/// let bytes = builder.build()
/// ```
/// Numbers are written in ``byteOrder``. Attributes start at a multiple of 4 bytes (`NLA_ALIGN`). As in the kernel, the
/// padding after an attribute counts towards the length of its message and its nest, not towards its own. An attribute that
/// is too long for a 16-bit length (a payload of more than 65,531 bytes) is left out, as `nla_put` does.
package struct NetlinkMessageBuilder: Sendable {
    /// The byte order of numbers.
    package let byteOrder: ByteOrder
    private var bytes: [UInt8] = []

    /// Begins a message.
    package init(
        type: UInt16,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0,
        byteOrder: ByteOrder = .host
    ) {
        self.byteOrder = byteOrder
        bytes.reserveCapacity(128)
        append(UInt32(0))
        append(type)
        append(flags.rawValue)
        append(sequence)
        append(port)
    }

    /// Ends the message and returns its bytes.
    package consuming func build() -> [UInt8] {
        bytes.overwrite(at: 0, with: UInt32(bytes.count), in: byteOrder)
        return bytes
    }
}

// MARK: - Data outside attributes

extension NetlinkMessageBuilder {
    /// Appends a number, as a field of a fixed-size header.
    package mutating func append(_ value: some FixedWidthInteger) { bytes.append(value, in: byteOrder) }

    /// Appends bytes.
    package mutating func append(bytes other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    /// Appends zeros up to the next multiple of 4 bytes.
    package mutating func align() {
        while bytes.count & 3 != 0 { bytes.append(0) }
    }

    /// Appends a structure that begins with its length in 16 bits, such as an entry of `RTA_MULTIPATH`.
    ///
    /// The body appends what follows the length. Padding at its end counts, as in `struct rtnexthop`.
    package mutating func record(_ body: (inout Self) throws -> Void) rethrows {
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
    package static let nestedFlag: UInt16 = 0x8000

    /// Appends an attribute without a payload, a flag.
    package mutating func attribute(_ type: UInt16) { attribute(type, bytes: EmptyCollection()) }

    /// Appends a number as wide as its Swift type.
    package mutating func attribute(_ type: UInt16, _ value: some FixedWidthInteger & UnsignedInteger) {
        attribute(type) { $0.append(value) }
    }

    /// Appends a number in network byte order, whatever ``byteOrder`` is.
    package mutating func attribute(_ type: UInt16, networkOrder value: some FixedWidthInteger & UnsignedInteger) {
        attribute(type) { $0.bytes.append(value, in: .big) }
    }

    /// Appends an interface index.
    package mutating func attribute(_ type: UInt16, index: InterfaceIndex) {
        attribute(type) { $0.append(index) }
    }

    /// Appends an address: 4 or 16 bytes in network byte order.
    package mutating func attribute(_ type: UInt16, _ address: IPAddress) {
        attribute(type) { $0.append(address) }
    }

    /// Appends a string with a terminating NUL.
    package mutating func attribute(_ type: UInt16, string: String) {
        attribute(type) { builder in
            builder.append(bytes: string.utf8)
            builder.append(UInt8(0))
        }
    }

    /// Appends bytes.
    package mutating func attribute(_ type: UInt16, bytes payload: some Sequence<UInt8>) {
        attribute(type) { $0.append(bytes: payload) }
    }

    /// Appends an attribute that contains attributes.
    ///
    /// - Parameters:
    ///   - type: The attribute's type.
    ///   - flagged: Whether to set ``nestedFlag``, which older attributes of rtnetlink do not have.
    ///   - body: Appends the inner attributes.
    package mutating func nested(_ type: UInt16, flagged: Bool = true, _ body: (inout Self) throws -> Void) rethrows {
        try attribute(flagged ? type | Self.nestedFlag : type, body)
    }

    /// Appends an address without an attribute's header: 4 or 16 bytes in network byte order.
    package mutating func append(_ address: IPAddress) {
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
