import NetworkLab
import ReachabilityCore
import Testing

/// Control messages written by hand after `struct cmsghdr` and `struct sock_extended_err`, for a 64-bit machine.
struct QueuedSocketErrorTests {
    /// Returns a control message with its padding.
    private static func message(_ level: Int32, _ type: Int32, _ payload: [UInt8]) -> [UInt8] {
        let header = bytes(UInt(16 + payload.count)) + bytes(level) + bytes(type)
        return header + payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
    }

    /// The bytes of an integer in this machine's order.
    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private static func error(
        errno: UInt32 = 113,
        origin: UInt8 = 2,
        type: UInt8 = 11,
        code: UInt8 = 0,
        info: UInt32 = 0
    ) -> [UInt8] {
        bytes(errno) + [origin, type, code, 0] + bytes(info) + bytes(UInt32(0))
    }

    /// `struct sockaddr_in` of 192.0.2.1.
    private static let ipv4: [UInt8] = bytes(UInt16(2)) + [0, 0, 192, 0, 2, 1] + [UInt8](repeating: 0, count: 8)
    /// `struct sockaddr_in6` of 2001:db8::1.
    private static let ipv6: [UInt8] =
        bytes(UInt16(10)) + [0, 0, 0, 0, 0, 0, 0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [
            1, 0, 0, 0, 0,
        ]

    private static func decoded(_ bytes: [UInt8]) -> QueuedSocketError? { .init(controlMessages: bytes.span.bytes) }

    @Test func `an ICMP error has its sender and its meaning`() throws {
        let error = try #require(Self.decoded(Self.message(0, 11, Self.error() + Self.ipv4)))
        #expect(error.errno == 113 && error.origin == .icmp)
        #expect(error.offender == IPAddress("192.0.2.1"))
        #expect(error.icmpError == .timeExceeded)
    }

    @Test func `an ICMPv6 error has its sender and the MTU`() throws {
        let bytes = Self.message(41, 25, Self.error(errno: 90, origin: 3, type: 2, info: 1280) + Self.ipv6)
        let error = try #require(Self.decoded(bytes))
        #expect(error.offender == IPAddress("2001:db8::1"))
        #expect(error.icmpError == .packetTooBig(mtu: 1280))
    }

    @Test func `a local error has no sender`() throws {
        let nobody = [UInt8](repeating: 0, count: 16)
        let error = try #require(
            Self.decoded(Self.message(0, 11, Self.error(errno: 90, origin: 1, info: 1500) + nobody))
        )
        #expect(error == .init(errno: 90, origin: .local, type: 11, code: 0, info: 1500, offender: nil))
        #expect(error.icmpError == nil)
    }

    @Test func `other control messages before the error are skipped`() throws {
        let timeToLive = Self.message(0, 2, Self.bytes(UInt32(64)))
        #expect(Self.decoded(timeToLive + Self.message(0, 11, Self.error() + Self.ipv4))?.icmpError == .timeExceeded)
    }

    @Test(arguments: [
        // Nothing, another message, an error cut off, one without its sender, and one of another origin.
        [], message(0, 2, bytes(UInt32(64))), message(0, 11, Array(error().dropLast())), message(0, 11, error()),
        message(0, 11, error(origin: 4) + ipv4), message(0, 11, error() + ipv4.dropLast(12)),
        message(41, 25, error(origin: 3) + ipv6.dropLast(8)), message(41, 11, error() + ipv4),
        message(0, 11, error() + bytes(UInt16(0xFF02)) + ipv4.dropFirst(2)),
        // A message that is longer than the buffer, one shorter than its header, and one whose length overflows.
        Array(message(0, 11, error() + ipv4).dropLast(8)), bytes(UInt(3)) + bytes(UInt64(0)),
        bytes(UInt.max) + bytes(UInt64(0)),
    ])
    func `what is no error is none`(bytes: [UInt8]) {
        #expect(Self.decoded(bytes) == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `any bytes are decoded or refused`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<20_000 {
            let isIPv4 = Bool.random(using: &generator)
            var bytes =
                isIPv4
                ? Self.message(0, 11, Self.error() + Self.ipv4)
                : Self.message(41, 25, Self.error(origin: 3) + Self.ipv6)
            bytes += bytes
            generator.mutate(&bytes)
            if Self.decoded(bytes) == nil { refused += 1 }
        }
        #expect((100...19_900).contains(refused))
    }

    @Test(
        arguments: [
            (11, 0, .timeExceeded), (3, 0, .networkUnreachable), (3, 6, .networkUnreachable), (3, 1, .hostUnreachable),
            (3, 7, .hostUnreachable), (3, 2, .protocolUnreachable), (3, 3, .portUnreachable),
            (3, 4, .packetTooBig(mtu: 1300)),
            (3, 9, .prohibited), (3, 10, .prohibited), (3, 13, .prohibited), (11, 1, .other(type: 11, code: 1)),
            (12, 0, .other(type: 12, code: 0)),
        ] as [(UInt8, UInt8, ICMPError)]
    )
    func `the numbers of ICMP have their meanings`(type: UInt8, code: UInt8, meaning: ICMPError) {
        #expect(ICMPError(.ipv4, type: type, code: code, mtu: 1300) == meaning)
    }

    @Test(
        arguments: [
            (3, 0, .timeExceeded), (1, 0, .networkUnreachable), (1, 6, .networkUnreachable), (1, 3, .hostUnreachable),
            (4, 1, .protocolUnreachable), (1, 4, .portUnreachable), (2, 0, .packetTooBig(mtu: 1300)),
            (1, 1, .prohibited),
            (1, 5, .prohibited), (1, 2, .other(type: 1, code: 2)), (3, 1, .other(type: 3, code: 1)),
        ] as [(UInt8, UInt8, ICMPError)]
    )
    func `the numbers of ICMPv6 have their meanings`(type: UInt8, code: UInt8, meaning: ICMPError) {
        #expect(ICMPError(.ipv6, type: type, code: code, mtu: 1300) == meaning)
    }
}
