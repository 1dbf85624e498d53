import LinuxSystem
import ReachabilityCore

/// Asks about devices, tunnels and radios on another thread, and feeds the reports to the state machine.
///
/// Confined to the event thread, except while it is created.
final class DeviceService {
    private let machine: ConfinedMachine
    private let receiver: NetlinkReceiver
    private let run: EngineRun
    private let namespace: NetworkNamespaceHandle
    /// Created when it is needed first.
    private var inquirer: DeviceInquirer?

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - machine: The model of the machine's network, which is fed.
    ///   - receiver: Has the families of generic netlink, and records the reports.
    ///   - run: The run on whose event thread the reports are taken.
    ///   - namespace: The network namespace of the devices.
    init(
        _ machine: ConfinedMachine,
        _ receiver: NetlinkReceiver,
        _ run: EngineRun,
        in namespace: NetworkNamespaceHandle
    ) {
        self.machine = machine
        self.receiver = receiver
        self.run = run
        self.namespace = namespace
    }

    /// Asks about a device or a tunnel; the report comes as a job.
    func probe(_ index: InterfaceIndex, _ name: String) {
        do throws(NetlinkError) {
            try openedInquirer().ask(question(index, name)) { [run] report in
                _ = run.perform { $0?.devices.take(report) }
            }
        } catch {
            var report = DeviceReport(index: index, name: name)
            var findings = DeviceFindings(index: index, name: name)
            findings.driverFault = "\(error.call): errno \(error.errno)"
            report.end(findings)
            take(report)
        }
    }

    /// Asks the radios of the path's Wi-Fi carriers.
    ///
    /// - Parameter completion: Called with the details on the inquirer's thread; immediately if there is no such carrier.
    func askRadios(_ completion: @escaping @Sendable ([WiFiDetails]) -> Void) {
        let carriers = machine.with { $0.evaluation?.path.carriers ?? [] }
        let inquiry = WiFiInquiry(interfaces: carriers.filter { $0.kind == .wifi }, nl80211: receiver.families.nl80211)
        guard !inquiry.interfaces.isEmpty, inquiry.nl80211 != 0, let inquirer = try? openedInquirer() else {
            return completion([])
        }
        inquirer.ask({ inquiry.run(&$0) }, completion: completion)
    }

    private func openedInquirer() throws(NetlinkError) -> DeviceInquirer {
        if let inquirer { return inquirer }
        let inquirer = try DeviceInquirer(in: namespace)
        self.inquirer = inquirer
        return inquirer
    }

    private func question(_ index: InterfaceIndex, _ name: String) -> DeviceInquirer.Question {
        if let source = tunnelSource(index) {
            let inquiry = TunnelInquiry(index: index, name: name, source: source)
            return { inquiry.run(&$0) }
        }
        let inquiry = DeviceInquiry(index: index, name: name, nl80211: receiver.families.nl80211)
        return { inquiry.run(&$0) }
    }

    /// The source of a tunnel's endpoint or a team's ports; nil for another interface.
    private func tunnelSource(_ index: InterfaceIndex) -> TunnelInquiry.Source? {
        let families = receiver.families
        return machine.with { machine in
            guard let link = machine.snapshot.link(index) else { return nil }
            if link.kind == "wireguard" { return .wireGuard(family: families.wireGuard) }
            if link.kind == "team" { return .team(family: families.team) }
            if machine.snapshot.isL2TP(link), machine.isAskingTunnel(index) { return .l2tp(family: families.l2tp) }
            return machine.snapshot.tunnels.endpoint(of: link).map(TunnelInquiry.Source.known)
        }
    }

    /// Takes a report, unless the interface has gone or has another name by now.
    private func take(_ report: DeviceReport) {
        guard machine.with({ $0.expectsDevice(report.index, name: report.name) }) else { return }
        let now = SystemClock.now
        for message in report.messages {
            receiver.record(message.datagram, .fromKernel, message.event.protocolNumber)
            machine.with { $0.receiveDevice(message.event, .synthetic, at: now) }
        }
    }
}

extension NetlinkHeader {
    /// The header of a message that no datagram brought.
    fileprivate static let synthetic = Self(length: 0, type: 0, flags: [], sequence: 0, port: 0)
}
