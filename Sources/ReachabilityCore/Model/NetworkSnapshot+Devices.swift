/// What is known of the devices behind interfaces.
extension NetworkSnapshot {
    /// A uevent, or what a look at a device gave: it is kept until the device or its interface goes.
    ///
    /// Either may know less than the other: the kernel's uevents name no driver, and sysfs may be out of sight.
    mutating func apply(_ message: UeventMessage, _ effect: inout SnapshotEffect) {
        let old = devices[message.index]
        guard message.action != .remove else {
            devices[message.index] = nil
            if old?.saysMore == true { effect.add(.deviceChanged) }
            return
        }
        var new = message
        new.deviceType = message.deviceType ?? old?.deviceType
        new.driver = message.driver ?? old?.driver
        new.probe = message.probe ?? old?.probe
        devices[message.index] = new
        let isAnswer = message.probe != nil && awaitedDevices.remove(message.index) != nil
        if isAnswer || new.saysElse(than: old) {
            effect.add(.deviceChanged)
        } else if new.probe != old?.probe {
            effect.add(isAskedForEgress(message.index) ? .tunnelChanged : .deviceChanged)
        }
    }

    /// Whether an interface is asked about for where its packets leave, not for its device: its driver's kind is known.
    private func isAskedForEgress(_ index: InterfaceIndex) -> Bool {
        link(index).map { $0.kind != nil || isL2TP($0) } ?? false
    }

    /// Notes that a device is being looked at; what is known of it already counts meanwhile.
    mutating func awaitDevice(_ index: InterfaceIndex) {
        if devices[index]?.probe == nil { awaitedDevices.insert(index) }
    }

    /// Notes that nothing more will be found out.
    mutating func awaitNoDevice() { awaitedDevices = [] }
}

extension UeventMessage {
    fileprivate var saysMore: Bool { deviceType != nil || driver != nil }

    fileprivate func saysElse(than other: Self?) -> Bool {
        deviceType != other?.deviceType || driver != other?.driver
    }
}
