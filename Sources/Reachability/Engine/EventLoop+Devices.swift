import ReachabilityCore

extension EventLoop {
    /// Has a device or a tunnel asked about on another thread; the answer comes as a job.
    func probe(_ index: InterfaceIndex, _ name: String) {
        do throws(NetlinkError) {
            try openedInquirer().ask(question(index, name)) { [run] answer in
                _ = run.perform { $0.take(answer) }
            }
        } catch {
            var answer = DeviceAnswer(index: index, name: name)
            var findings = DeviceFindings(index: index, name: name)
            findings.driverFault = "\(error.call): errno \(error.errno)"
            answer.end(findings)
            take(answer)
        }
    }

    /// Has the radios of the path's WiFi carriers asked on another thread, where `answer` is called; at once if it has none.
    func askRadios(answer: @escaping @Sendable ([WiFiDetails]) -> Void) {
        let carriers = consult { $0.evaluation?.path.carriers ?? [] }
        let inquiry = WiFiInquiry(interfaces: carriers.filter { $0.kind == .wifi }, nl80211: families.nl80211)
        guard !inquiry.interfaces.isEmpty, inquiry.nl80211 != 0, let inquirer = try? openedInquirer() else {
            return answer([])
        }
        inquirer.ask({ inquiry.run(&$0) }, answer: answer)
    }

    private func question(_ index: InterfaceIndex, _ name: String) -> DeviceInquirer.Question {
        if let source = tunnelSource(index) {
            let inquiry = TunnelInquiry(index: index, name: name, source: source)
            return { inquiry.run(&$0) }
        }
        let inquiry = DeviceInquiry(index: index, name: name, nl80211: families.nl80211)
        return { inquiry.run(&$0) }
    }

    /// Who tells a tunnel's endpoint; nil for an interface that is no such tunnel.
    private func tunnelSource(_ index: InterfaceIndex) -> TunnelInquiry.Source? {
        consult { machine in
            guard let link = machine.snapshot.link(index) else { return nil }
            if link.kind == "wireguard" { return .wireGuard(family: families.wireGuard) }
            if link.kind == "team" { return .team(family: families.team) }
            if machine.snapshot.isL2TP(link), machine.isAskingTunnel(index) { return .l2tp(family: families.l2tp) }
            return link.tunnelRemote.map { .known(.init(address: $0)) }
        }
    }

    /// Takes an answer, unless the interface has gone or has another name by now.
    private func take(_ answer: DeviceAnswer) {
        guard consult({ $0.expectsDevice(answer.index, name: answer.name) }) else { return }
        let now = Clock.now
        for datagram in answer.datagrams {
            record(datagram.bytes, .fromKernel, datagram.protocolNumber)
            let decoder = NetlinkDecoder(protocolNumber: datagram.protocolNumber, families: families)
            alterMachine { machine in
                try? decoder.decode(datagram.bytes.span.bytes) { machine.receiveDevice($1, $0, at: now) }
            }
        }
    }
}
