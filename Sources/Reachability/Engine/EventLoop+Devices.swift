import ReachabilityCore

extension EventLoop {
    /// Has a device looked at on another thread; the answer comes as a job.
    func probe(_ index: InterfaceIndex, _ name: String) {
        do throws(NetlinkError) {
            let inquiry = DeviceInquiry(index: index, name: name, nl80211: families.nl80211)
            try openedInquirer().ask(inquiry) { [run] answer in
                _ = run.perform { $0.take(answer) }
            }
        } catch {
            var findings = DeviceFindings(index: index, name: name)
            findings.driverFault = "\(error.call): errno \(error.errno)"
            let message = NetlinkEncoder().encode(.uevent(findings.message))
            take(
                .init(
                    index: index,
                    name: name,
                    datagrams: [.init(protocolNumber: NetlinkDecoder.uevent, bytes: message)]
                )
            )
        }
    }

    /// Takes an answer, unless the interface has gone or has another name by now.
    private func take(_ answer: DeviceAnswer) {
        guard consult({ $0.expectsDevice(answer.index, name: answer.name) }) else { return }
        for datagram in answer.datagrams {
            record(datagram.bytes, .fromKernel, datagram.protocolNumber)
            let decoder = NetlinkDecoder(protocolNumber: datagram.protocolNumber, families: families)
            let now = Clock.now
            alterMachine { machine in
                try? decoder.decode(datagram.bytes.span.bytes) { machine.receiveDevice($1, $0, at: now) }
            }
        }
    }
}
