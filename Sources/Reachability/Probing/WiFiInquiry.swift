import ReachabilityCore

/// One question to the radios of a path: which network, which access point, how strong.
struct WiFiInquiry: Sendable {
    let interfaces: [NetworkInterface]
    /// nl80211's number; 0 where there is none.
    let nl80211: UInt16

    /// Asks, and may wait for the kernel's configuration lock; interfaces that nl80211 does not know are left out.
    func run(_ socket: inout DeviceSocket) -> [WiFiDetails] {
        guard nl80211 != 0 else { return [] }
        var details: [WiFiDetails] = []
        for interface in interfaces {
            guard let reply = socket.wirelessInterface(interface.index, family: nl80211) else { continue }
            let stations = socket.wirelessStations(interface.index, family: nl80211)
            // The name is in the reply only if the driver itself keeps the association.
            let isNamed = reply.ssid?.isEmpty == false
            let scan = isNamed ? [] : socket.wirelessScan(interface.index, family: nl80211)
            details.append(.init(interface, reply, stations: stations, scan: scan))
        }
        return details
    }
}
