import Glibc
import NetworkLab
import Reachability

@testable import ReachabilityCore

/// A machine with three uplinks and interfaces stacked over them, and a namespace that counts the packets that leave.
///
/// The uplinks are veths, whose kinds the monitor's rules name. Gateways have permanent neighbour entries, and there is
/// no IPv6, so that only the test's own packets leave.
struct StackWorld {
    let machine: LabNamespace
    /// The far ends of the uplinks, where nothing replies.
    let world: LabNamespace
    /// A container on the bridge.
    let guest: LabNamespace

    static let uplinks = ["eth0", "wlan0", "wwan0"]
    static let kinds: [KindRule] = [
        .init(pattern: "eth*", kind: .wired), .init(pattern: "wlan*", kind: .wifi),
        .init(pattern: "wwan*", kind: .cellular),
    ]
    /// The other end of the tunnels.
    static let endpoint = "198.51.100.7"

    init() throws {
        machine = try LabNamespace()
        world = try LabNamespace()
        guest = try LabNamespace()
        for lab in [machine, world, guest] {
            for scope in ["all", "default"] { try lab.setSysctl("net.ipv6.conf.\(scope).disable_ipv6", to: 1) }
        }
        for (number, name) in Self.uplinks.enumerated() { try addUplink(name, number) }
        try machine.rtnl.createVeth("c0", .init(index: 40), peer: "eth0", .init(index: 140, namespace: guest))
        try guest.rtnl.setUp("eth0")
        try machine.rtnl.createBridge("br0", .init(index: 30))
        // A fixed address, as neighbour entries are removed when a port's address becomes the bridge's.
        try machine.rtnl.setHardwareAddress("br0", to: [2, 0, 0, 0, 9, 2])
        try machine.rtnl.setUp("c0", "br0")
        try addAddress("br0", "10.9.0")
        try machine.rtnl.setMaster("c0", to: "br0")
    }

    private func addUplink(_ name: String, _ number: Int) throws {
        let index = InterfaceIndex(10 + number)
        let far = LinkOptions(index: index + 100, namespace: world)
        try machine.rtnl.createVeth(name, .init(index: index), peer: "far-\(name)", far)
        try machine.rtnl.setUp(name)
        try world.rtnl.setUp("far-\(name)")
        try addAddress(name, "10.0.\(number)")
        let table = RouteTableID(rawValue: UInt32(101 + number))
        try machine.rtnl.addRoute("default", via: "10.0.\(number).1", on: name, table: table)
    }

    /// Adds an interface's address, and a permanent neighbour entry for its gateway.
    func addAddress(_ name: String, _ network: String) throws {
        try machine.rtnl.addAddress("\(network).2/24", on: name)
        try machine.rtnl.setNeighbour("\(network).1", on: name, state: .permanent)
    }

    /// Sends packets to both halves of the internet, as a program's connected sockets do.
    ///
    /// - Returns: For each half, the uplinks through which packets left.
    func send() throws -> [Set<String>] {
        try [22, 215].map { half in
            let before = try received()
            try machine.run { for last in 1...32 { Self.send(to: "\(half).0.0.\(last)") } }
            let after = try received()
            // ARP requests do not count.
            let size = UInt64(Self.payload.count)
            return Set(Self.uplinks.filter { (after[$0] ?? 0) >= (before[$0] ?? 0) + size })
        }
    }

    private static func send(to text: String) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(443).bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        if connected == 0 { _ = Glibc.send(descriptor, payload, payload.count, Int32(MSG_DONTWAIT)) }
    }

    private static let payload = [UInt8](repeating: 0, count: 1_000)

    /// The number of bytes that have arrived from each uplink (proc(5), `/proc/net/dev`).
    private func received() throws -> [String: UInt64] {
        let text = try world.run { try Self.read("/proc/thread-self/net/dev") }
        var counts: [String: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split { $0 == " " || $0 == ":" }
            guard fields.count > 10, fields[0].hasPrefix("far-") else { continue }
            counts[String(fields[0].dropFirst(4))] = UInt64(fields[1])
        }
        return counts
    }

    private static func read(_ path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw LabError("open \(path)", errno: errno) }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = Glibc.read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
