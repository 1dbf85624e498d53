extension WirelessMessage {
    /// Appends `struct genlmsghdr` and the attributes, in the kernel's form.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [command.rawValue, 1, 0, 0])
        if let radio { builder.attribute(NL80211.radio, radio) }
        builder.attribute(NL80211.interfaceIndex, index: index)
        if let mode { builder.attribute(NL80211.mode, mode.rawValue) }
        if hasTimedOut { builder.attribute(NL80211.timedOut) }
        guard command != .scanResult else { return appendNetwork(to: &builder) }
        if let ssid { builder.attribute(NL80211.ssid, bytes: ssid) }
        if let frequency { builder.attribute(NL80211.frequency, frequency) }
        appendAccessPoint(to: &builder)
        if let signal {
            builder.nested(NL80211.stationInfo) { $0.attribute(NL80211.signal, UInt8(bitPattern: signal)) }
        }
        if isOwnNetwork {
            builder.nested(NL80211.network) {
                $0.attribute(NL80211.Network.status, NL80211.Network.isAssociated)
            }
        }
    }

    /// Appends `NL80211_ATTR_BSS`, and the status that does not belong there.
    private func appendNetwork(to builder: inout NetlinkMessageBuilder) {
        if let status { builder.attribute(NL80211.status, status) }
        builder.nested(NL80211.network) { network in
            if let address { network.attribute(NL80211.Network.address, bytes: address) }
            if let frequency { network.attribute(NL80211.Network.frequency, frequency) }
            if let ssid { network.attribute(NL80211.Network.elements, bytes: [0, UInt8(clamping: ssid.count)] + ssid) }
            if let signal {
                network.attribute(NL80211.Network.signal, UInt32(bitPattern: Int32(signal) * 100))
            }
            if isOwnNetwork { network.attribute(NL80211.Network.status, NL80211.Network.isAssociated) }
        }
    }

    /// Appends address and status: by a frame if the command is about one that came.
    private func appendAccessPoint(to builder: inout NetlinkMessageBuilder) {
        var status = status
        if !hasTimedOut, let address, let form = ManagementFrame(command) {
            let body = form.statusOffset == nil ? nil : status
            builder.attribute(NL80211.frame, bytes: form.bytes(bssid: address, status: body))
            if form.statusOffset != nil { status = nil }
        } else if let address {
            builder.attribute(NL80211.address, bytes: address)
        }
        if let status { builder.attribute(NL80211.status, status) }
    }
}

extension ManagementFrame {
    /// A frame of an access point: its header, and its body as far as the status code.
    fileprivate func bytes(bssid: [UInt8], status: UInt16?) -> [UInt8] {
        var frame = [control] + [UInt8](repeating: 0, count: 9)
        frame += bssid + bssid + [0, 0]
        guard let status, let statusOffset else { return frame }
        frame += [UInt8](repeating: 0, count: statusOffset - frame.count)
        frame.append(status, in: .little)
        return frame
    }
}
