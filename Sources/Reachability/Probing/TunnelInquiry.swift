import Glibc
import LinuxSystem
import ReachabilityCore

/// One question where the packets of a tunnel or a team leave: to the tunnel's endpoint, which WireGuard and L2TP have
/// to be asked for; or by which ports of the team.
struct TunnelInquiry: Sendable {
    let index: InterfaceIndex
    let name: String
    /// The source of the endpoint.
    let source: Source
    /// The user whose rules decide: the kernel sends a tunnel's packets as root.
    private static let kernel: UInt32 = 0

    enum Source: Sendable {
        /// WireGuard, by its number.
        case wireGuard(family: UInt16)
        /// L2TP, by its number.
        case l2tp(family: UInt16)
        /// The team driver, by its number.
        case team(family: UInt16)
        /// The kernel keeps it with the link.
        case known(TunnelEndpoint)
    }

    /// Asks; may wait for the kernel's configuration lock.
    func run(_ socket: inout DeviceSocket) -> DeviceReport {
        var report = DeviceReport(index: index, name: name)
        do throws(NetlinkError) {
            if let endpoint = try endpoint(&socket, &report) {
                let egress = try socket.egress(of: endpoint.flow(user: Self.kernel), selectsSource: selectsSource)
                report.append(.route(.init(egress: egress, to: endpoint)))
            }
            report.end(.answered)
        } catch {
            report.end(.failed("\(subject) cannot be queried: \(SystemError(code: error.errno))"))
        }
        return report
    }

    private var subject: String {
        if case .team = source { "its active port" } else { "its endpoint" }
    }

    /// Whether the tunnel sends from the address that a first lookup selects, so that rules on the source see it.
    ///
    /// WireGuard sends from the address at which the peer's packets come in; other tunnels look up once.
    private var selectsSource: Bool {
        if case .wireGuard = source { true } else { false }
    }

    private func endpoint(
        _ socket: inout DeviceSocket,
        _ report: inout DeviceReport
    ) throws(NetlinkError) -> TunnelEndpoint? {
        switch source {
        case .known(let endpoint): return endpoint
        case .wireGuard(let family):
            let device = try socket.wireGuardDevice(index, family: existing(family))
            // Encoded again without the keys that the kernel sent.
            report.append(.wireGuard(device), .init(GenericFamilies.wireGuardName, family))
            return device.endpoint
        case .l2tp(let family):
            guard let session = try socket.l2tpSession(name, family: existing(family)) else { return nil }
            report.append(.l2tp(session), .init(GenericFamilies.l2tpName, family))
            return session.endpoint
        case .team(let family):
            for message in try socket.teamOptions(index, family: existing(family)) {
                report.append(.team(message), .init(GenericFamilies.teamName, family))
            }
            return nil
        }
    }

    /// Returns the number of a family; throws if the kernel does not have the family.
    private func existing(_ family: UInt16) throws(NetlinkError) -> UInt16 {
        guard family != 0 else { throw NetlinkError("generic netlink", errno: EOPNOTSUPP) }
        return family
    }
}
