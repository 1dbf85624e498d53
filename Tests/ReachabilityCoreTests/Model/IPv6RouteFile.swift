import Glibc
import NetworkLab

@testable import ReachabilityCore

/// The kernel's IPv6 routes as /proc/net/ipv6_route lists them: each next hop by itself, and none left out.
///
/// A dump omits routes that are stored between the next hops of a multipath route; this file lacks tables and
/// attributes.
enum IPv6RouteFile {
    /// The default-like routes that the kernel lists, in no order.
    static func listed(in lab: LabNamespace) throws -> [String] {
        try lab.run { try text() }.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count == 10, let length = UInt8(fields[1], radix: 16),
                length <= RouteMessage.longestDefaultLikePrefix, fields[5] != "ffffffff"
            else { return nil }
            return (fields[0...5] + [fields[9]]).joined(separator: " ")
        }.sorted()
    }

    /// The default-like routes that a model expects in the kernel's list, in no order.
    static func expected(of snapshot: NetworkSnapshot) -> [String] {
        snapshot.routes.filter { $0.key.family == .ipv6 }.map(\.value).joined().flatMap { route -> [String] in
            let nextHops = snapshot.nextHops(of: route)
            let shown = route.message.nexthopID == nil ? nextHops : Array(nextHops.prefix(1))
            let blackhole = [NextHop(interface: 1)]
            return (shown.isEmpty ? blackhole : shown).map { nextHop in
                let message = route.message
                return [
                    hex(message.destination.address.bits), hex(message.destination.length),
                    hex(message.source.address.bits), hex(message.source.length),
                    hex(nextHop.gateway?.bits ?? 0), hex(message.metric), snapshot.link(nextHop.interface)?.name ?? "?",
                ].joined(separator: " ")
            }
        }.sorted()
    }

    private static func hex(_ value: some FixedWidthInteger) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: value.bitWidth / 4 - digits.count) + digits
    }

    private static func text() throws -> String {
        guard let file = fopen("/proc/thread-self/net/ipv6_route", "r") else {
            throw LabError("open ipv6_route", errno: errno)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
    }
}
