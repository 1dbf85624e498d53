import ReachabilityCore

extension SocketFilter {
    /// Drops routes that are neither default-like nor could cover one of some destinations, and lets through the rest.
    ///
    /// All but `RTM_DELNETCONF`, which goes with each interface that goes, twice, and says no more than that.
    ///
    /// A router with a full table changes thousands of routes a second, of which none matters here. Each broadcast
    /// carries one message, whose head (`struct nlmsghdr`, `struct rtmsg`) lies at fixed offsets; the destination is an
    /// attribute, and of IPv6 only its first 32 bits are held against the destinations.
    ///
    /// - Parameter destinations: The addresses that are watched; too many for one program let every route through.
    /// - Returns: The program.
    static func routes(covering destinations: Set<IPAddress> = []) -> SocketFilter {
        let ipv4 = prefixes(of: destinations, .ipv4)
        let ipv6 = prefixes(of: destinations, .ipv6)
        var filter = SocketFilter()
        filter.append(
            .loadHalf(Offset.type),
            .ifEqual(networkOrder(MessageType.newRoute), 3, else: 0),
            .ifEqual(networkOrder(MessageType.deleteRoute), 2, else: 0),
            .ifEqual(networkOrder(MessageType.deleteNetconf), 0, else: 3),
            .drop,
            .loadByte(Offset.prefixLength),
            .ifGreater(UInt32(RouteMessage.longestDefaultLikePrefix), 1, else: 0),
            .accept
        )
        filter.appendMatches(ipv4, ipv6)
        return filter.instructions.count <= longest ? filter : SocketFilter(instructions: [.accept])
    }

    /// Drops the route whose prefix length is in A, unless it could cover one of the prefixes.
    private mutating func appendMatches(_ ipv4: [UInt32], _ ipv6: [UInt32]) {
        guard !ipv4.isEmpty || !ipv6.isEmpty else { return append(.drop) }
        let ipv4Part = Self.comparisons(with: ipv4)
        // X becomes the number of bits that do not count: 32 - min(length, 32).
        append(.ifGreater(32, 0, else: 1), .loadConstant(32), .store(Slot.length))
        append(.loadConstant(Offset.attributes), .loadIndex(AttributeType.destination), .findAttribute)
        append(.ifEqual(0, 0, else: 1), .drop, .toIndex, .loadWordIndexed(4), .store(Slot.destination))
        append(.loadMemory(Slot.length), .toIndex, .loadConstant(32), .subtractIndex, .toIndex)
        append(.loadByte(Offset.family), .ifEqual(UInt32(AddressFamily.ipv4.rawValue), 1, else: 0))
        append(.skip(ipv4Part.count))
        instructions += ipv4Part
        append(.ifEqual(UInt32(AddressFamily.ipv6.rawValue), 1, else: 0), .drop)
        instructions += Self.comparisons(with: ipv6)
    }

    /// Accepts the message if the destination, without the bits that do not count, is one of the values; else drops it.
    private static func comparisons(with values: [UInt32]) -> [Instruction] {
        var part: [Instruction] = []
        for value in values {
            part += [.loadMemory(Slot.destination), .exclusiveOr(value), .shiftRightByIndex]
            part += [.ifEqual(0, 0, else: 1), .accept]
        }
        return part + [.drop]
    }

    /// The first 32 bits of each address of a family, each once, in order.
    private static func prefixes(of destinations: Set<IPAddress>, _ family: AddressFamily) -> [UInt32] {
        Set(destinations.filter { $0.family == family }.map(\.ipv4Value)).sorted()
    }

    /// A host-order number as a load in network order sees it.
    static func networkOrder(_ value: UInt16) -> UInt32 { UInt32(value.bigEndian) }

    /// Where things lie in a route's message.
    private enum Offset {
        static let type: UInt32 = 4
        static let family: UInt32 = 16
        static let prefixLength: UInt32 = 17
        static let attributes: UInt32 = 28
    }

    private enum Slot {
        static let length: UInt32 = 0
        static let destination: UInt32 = 1
    }

    private enum AttributeType {
        /// `RTA_DST`.
        static let destination: UInt32 = 1
    }

    private enum MessageType {
        /// `RTM_NEWROUTE`.
        static let newRoute: UInt16 = 24
        /// `RTM_DELROUTE`.
        static let deleteRoute: UInt16 = 25
        /// `RTM_DELNETCONF`.
        static let deleteNetconf: UInt16 = 81
    }
}
