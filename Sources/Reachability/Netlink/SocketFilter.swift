import CNetlink
import Glibc
import ReachabilityCore

/// A classic BPF program that the kernel runs over each message before it copies it to a socket.
///
/// `Documentation/networking/filter.rst`. It needs no privilege, and runs in the context of the process that causes the message.
struct SocketFilter: Equatable {
    /// The program.
    var instructions: [Instruction] = []

    /// `struct sock_filter`.
    struct Instruction: Equatable {
        var code: UInt16
        var jt: UInt8 = 0
        var jf: UInt8 = 0
        var k: UInt32
    }

    /// `BPF_MAXINSNS`.
    static let maximumCount = 4_096

    /// Appends one instruction or several.
    private mutating func append(_ added: Instruction...) { instructions += added }

    /// Attaches the program to a socket, in place of the one that it has: socket(7), `SO_ATTACH_FILTER`.
    ///
    /// The kernel swaps the programs at once: each message passes through one or the other.
    ///
    /// - Throws: ``NetlinkError`` if the kernel does not take the program.
    func attach(to descriptor: Int32) throws(NetlinkError) {
        var instructions = instructions.map { sock_filter(code: $0.code, jt: $0.jt, jf: $0.jf, k: $0.k) }
        let count = UInt16(clamping: instructions.count)
        let result = instructions.withUnsafeMutableBufferPointer { part in
            var program = sock_fprog(len: count, filter: part.baseAddress)
            let size = socklen_t(MemoryLayout<sock_fprog>.size)
            return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
        }
        guard result == 0 else { throw NetlinkError("SO_ATTACH_FILTER", errno: errno) }
    }
}

// MARK: - Routes

extension SocketFilter {
    /// Drops routes that are neither default-like nor could cover a probe address or one of some destinations, and accepts
    /// the rest.
    ///
    /// Also drops `RTM_DELNETCONF`, which comes twice with each interface that goes, and says no more than that.
    ///
    /// A router with a full table changes thousands of routes a second, none of which matters here. Each broadcast
    /// carries one message, whose head (`struct nlmsghdr`, `struct rtmsg`) lies at fixed offsets; the destination is an
    /// attribute, and of IPv6 only its first 32 bits are compared with the destinations.
    ///
    /// - Parameter destinations: The addresses that are watched; if they are too many for one program, it accepts every route.
    /// - Returns: The program.
    static func routes(covering destinations: Set<IPAddress> = []) -> SocketFilter {
        let ipv4 = prefixes(of: destinations.union(ProbeAddresses.ipv4), .ipv4)
        let ipv6 = prefixes(of: destinations.union(ProbeAddresses.ipv6), .ipv6)
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
        return filter.instructions.count <= maximumCount ? filter : SocketFilter(instructions: [.accept])
    }

    /// Drops the route whose prefix length is in A, unless it could cover one of the prefixes.
    private mutating func appendMatches(_ ipv4: [UInt32], _ ipv6: [UInt32]) {
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
    private static func networkOrder(_ value: UInt16) -> UInt32 { UInt32(value.bigEndian) }

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

// MARK: - Uevents

extension SocketFilter {
    /// Drops the uevents of interfaces without a device.
    ///
    /// Each begins with `ACTION@/devices/…`; those of veth, bridges, tunnels and their like, and of their queues, lie
    /// under `/devices/virtual/net/`. Their kind is in `IFLA_INFO_KIND`, and a thousand containers make thousands.
    static let uevents: SocketFilter = {
        var filter = SocketFilter()
        for length in actionLengths { filter.appendDrop(ofVirtualInterfacesAt: length) }
        filter.append(.accept)
        return filter
    }()

    /// The lengths of the actions `add`; `move`, `bind`; `remove`, `change`, `online`, `unbind`; `offline`.
    private static let actionLengths: [UInt32] = [3, 4, 6, 7]

    /// The whole words of `/devices/virtual/net/`, without its last slash.
    private static let path: [UInt32] = [0x2F64_6576, 0x6963_6573, 0x2F76_6972, 0x7475_616C, 0x2F6E_6574]

    private static let at: UInt32 = 0x40

    private mutating func appendDrop(ofVirtualInterfacesAt offset: UInt32) {
        let compared = UInt8(2 * Self.path.count)
        append(.loadByte(offset), .ifEqual(Self.at, 0, else: compared + 2))
        for (position, word) in Self.path.enumerated() {
            let behind = compared - 2 * UInt8(position + 1)
            append(.loadWord(offset + 1 + 4 * UInt32(position)), .ifEqual(word, 0, else: behind + 1))
        }
        append(.drop, .accept)
    }
}

// MARK: - Wi-Fi

extension SocketFilter {
    /// Accepts new families, nl80211's messages that change an interface's association, and a team's options.
    ///
    /// Drops those about an access point's stations, frames, scans and regulation: a busy access point sends hundreds a
    /// second. Each broadcast carries one message, whose type and command (`struct genlmsghdr`) lie at fixed offsets.
    static let wireless: SocketFilter = {
        var filter = SocketFilter()
        filter.append(.loadHalf(typeOffset))
        // The end of a dump and refusals have no command.
        filter.append(.ifEqual(networkOrder(endOfDump), 0, else: 1), .accept)
        filter.append(.ifEqual(networkOrder(refusal), 0, else: 1), .accept)
        filter.append(.ifEqual(networkOrder(control), 0, else: 4))
        filter.append(.loadByte(commandOffset), .ifEqual(newFamily, 0, else: 1), .accept, .drop)
        filter.append(.loadByte(commandOffset))
        filter.append(.ifEqual(teamOptions, 0, else: 1), .accept)
        for command in acceptedCommands { filter.append(.ifEqual(UInt32(command.rawValue), 0, else: 1), .accept) }
        filter.append(.drop)
        return filter
    }()

    private static let acceptedCommands: [WirelessMessage.Command] = [
        .setInterface, .newInterface, .deleteInterface, .authenticate, .associate, .deauthenticate, .disassociate,
        .connect, .roam, .disconnect,
    ]

    /// `nlmsg_type`, and `cmd` behind the head.
    private static let typeOffset: UInt32 = 4
    private static let commandOffset: UInt32 = 16
    /// `NLMSG_DONE`, `NLMSG_ERROR`, `GENL_ID_CTRL`, `CTRL_CMD_NEWFAMILY`.
    private static let endOfDump: UInt16 = 3
    private static let refusal: UInt16 = 2
    private static let control: UInt16 = 0x10
    private static let newFamily: UInt32 = 1
    /// `TEAM_CMD_OPTIONS_GET`; of nl80211 the number is `NL80211_CMD_SET_WIPHY`, about a radio's new name.
    private static let teamOptions: UInt32 = 2
}

// MARK: - Instructions

extension SocketFilter.Instruction {
    /// `ldb [offset]`.
    static func loadByte(_ offset: UInt32) -> Self { .init(code: 0x30, k: offset) }
    /// `ldh [offset]`, in network order.
    static func loadHalf(_ offset: UInt32) -> Self { .init(code: 0x28, k: offset) }
    /// `ld [offset]`, in network order.
    static func loadWord(_ offset: UInt32) -> Self { .init(code: 0x20, k: offset) }
    /// `ld [x + offset]`, in network order.
    static func loadWordIndexed(_ offset: UInt32) -> Self { .init(code: 0x40, k: offset) }
    /// `ld #value`.
    static func loadConstant(_ value: UInt32) -> Self { .init(code: 0x00, k: value) }
    /// `ldx #value`.
    static func loadIndex(_ value: UInt32) -> Self { .init(code: 0x01, k: value) }
    /// `ld M[slot]`.
    static func loadMemory(_ slot: UInt32) -> Self { .init(code: 0x60, k: slot) }
    /// `st M[slot]`.
    static func store(_ slot: UInt32) -> Self { .init(code: 0x02, k: slot) }
    /// `tax`.
    static let toIndex = Self(code: 0x07, k: 0)
    /// `sub x`.
    static let subtractIndex = Self(code: 0x1c, k: 0)
    /// `rsh x`.
    static let shiftRightByIndex = Self(code: 0x7c, k: 0)
    /// `xor #value`.
    static func exclusiveOr(_ value: UInt32) -> Self { .init(code: 0xa4, k: value) }
    /// `jeq #value, jt, jf`: how many instructions to skip in each case.
    static func ifEqual(_ value: UInt32, _ jt: UInt8, else jf: UInt8) -> Self {
        .init(code: 0x15, jt: jt, jf: jf, k: value)
    }
    /// `jgt #value, jt, jf`, without sign.
    static func ifGreater(_ value: UInt32, _ jt: UInt8, else jf: UInt8) -> Self {
        .init(code: 0x25, jt: jt, jf: jf, k: value)
    }
    /// `ja count`: skips instructions.
    static func skip(_ count: Int) -> Self { .init(code: 0x05, k: UInt32(clamping: count)) }
    /// `ret #-1`: the whole message is copied.
    static let accept = Self(code: 0x06, k: .max)
    /// `ret #0`: the socket never sees the message.
    static let drop = Self(code: 0x06, k: 0)
    /// `ld #nla`: from the offset in A, the offset of the attribute of the type in X; 0 if there is none.
    ///
    /// `SKF_AD_OFF + SKF_AD_NLATTR`.
    static let findAttribute = Self(code: 0x20, k: UInt32(bitPattern: -0x1000 + 12))
}
