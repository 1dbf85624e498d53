import Glibc
import NetworkLab

/// The number of TCP packets to a port that pass an interface, counted by the kernel (packet(7), `PACKET_STATISTICS`).
final class PacketCount: Sendable {
    /// The structures of linux/if_packet.h and linux/filter.h, which Swift's Glibc module lacks.
    private struct LinkAddress {
        var family = UInt16(AF_PACKET)
        var networkOrderProtocol = PacketCount.everything
        var interface: Int32
        var rest: (UInt32, UInt32, UInt32) = (0, 0, 0)
    }

    private struct FilterStep {
        var code: UInt16
        var ifTrue: UInt8 = 0
        var ifFalse: UInt8 = 0
        var operand: UInt32 = 0
    }

    private struct Filter {
        var count: UInt16
        var steps: UnsafeMutablePointer<FilterStep>?
    }

    private struct Statistics {
        var packets: UInt32 = 0
        var drops: UInt32 = 0
    }

    /// `ETH_P_ALL`: only sockets for all protocols see what is sent.
    private static let everything = UInt16(3).bigEndian
    private static let packetStatistics: Int32 = 6
    private let socket: OwnedDescriptor

    /// Begins to count.
    init(of interface: String, in namespace: LabNamespace, toPort port: UInt16) throws {
        socket = try namespace.run {
            let type = Int32(SOCK_DGRAM.rawValue)
            let socket = try OwnedDescriptor(
                systemCall("socket") { Glibc.socket(AF_PACKET, type, Int32(Self.everything)) }
            )
            try Self.filter(socket, port)
            try Self.bind(socket, to: interface)
            return socket
        }
        _ = try next()
    }

    /// Admits IPv4's TCP packets to a port only (BPF's classic instructions; the first loads the protocol).
    private static func filter(_ socket: OwnedDescriptor, _ port: UInt16) throws {
        var steps: [FilterStep] = [
            .init(code: 0x28, operand: 0xffff_f000), .init(code: 0x15, ifFalse: 6, operand: 0x800),
            .init(code: 0x30, operand: 9), .init(code: 0x15, ifFalse: 4, operand: 6),
            .init(code: 0xb1), .init(code: 0x48, operand: 2),
            .init(code: 0x15, ifFalse: 1, operand: UInt32(port)), .init(code: 0x06, operand: 0x4_0000),
            .init(code: 0x06),
        ]
        try steps.withUnsafeMutableBufferPointer { steps in
            var filter = Filter(count: UInt16(steps.count), steps: steps.baseAddress)
            try systemCall("setsockopt SO_ATTACH_FILTER") {
                setsockopt(socket.number, SOL_SOCKET, SO_ATTACH_FILTER, &filter, socklen_t(MemoryLayout<Filter>.size))
            }
        }
    }

    private static func bind(_ socket: OwnedDescriptor, to interface: String) throws {
        let address = LinkAddress(interface: Int32(if_nametoindex(interface)))
        try withUnsafeBytes(of: address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            _ = try systemCall("bind to \(interface)") { Glibc.bind(socket.number, pointer, socklen_t(bytes.count)) }
        }
    }

    /// Returns the number of packets since the last call, also of those for which the socket had no room.
    func next() throws -> Int {
        var statistics = Statistics()
        var size = socklen_t(MemoryLayout<Statistics>.size)
        try systemCall("getsockopt PACKET_STATISTICS") {
            getsockopt(socket.number, SOL_PACKET, Self.packetStatistics, &statistics, &size)
        }
        return Int(statistics.packets)
    }
}
