/// What a WiFi interface's radio tells of its network, at the moment at which it was asked.
///
/// Signal and frequency change all the time and without a message, so nothing of this is part of the state.
public struct WiFiDetails: Sendable, Hashable {
    /// The interface.
    public var interface: NetworkInterface
    /// The network's name as it is on the air (SSID): 1 to 32 bytes, of any value; nil if there is none.
    public var ssidBytes: [UInt8]?
    /// The access point's address (BSSID), 6 bytes; nil if the interface is not a station's, or not associated.
    public var accessPoint: [UInt8]?
    /// The centre of the primary channel, in MHz.
    public var frequency: UInt32?
    /// How strong the access point's signal is here, in dBm: -30 is very strong, -90 very weak.
    public var signal: Int?

    /// Makes the details of an interface of which nothing is known.
    public init(interface: NetworkInterface) { self.interface = interface }

    /// Puts together what nl80211 answers.
    ///
    /// - Parameters:
    ///   - interface: The interface.
    ///   - answer: The answer to `NL80211_CMD_GET_INTERFACE`.
    ///   - stations: The answers to `NL80211_CMD_GET_STATION`.
    ///   - scan: The answers to `NL80211_CMD_GET_SCAN`: the kernel often knows its own network's name only from there.
    public init(
        _ interface: NetworkInterface,
        _ answer: WirelessMessage,
        stations: [WirelessMessage],
        scan: [WirelessMessage] = []
    ) {
        self.interface = interface
        let own = scan.first(where: \.isOwnNetwork)
        ssidBytes = [answer.ssid, own?.ssid].lazy.compactMap(\.self).first { !$0.isEmpty }
        frequency = answer.frequency ?? own?.frequency
        // Whoever is no station speaks with many, none of which is its network.
        guard answer.mode == .station || answer.mode == .peerClient, let other = stations.first else { return }
        accessPoint = other.address
        // Drivers without a scale of their own give numbers from 0 to 100.
        signal = other.signal.flatMap { $0 < 0 ? Int($0) : nil }
    }

    /// The network's name, if it is text: nil if it is not UTF-8 (IEEE 802.11 calls it bytes, and says UTF-8 of some).
    ///
    /// Whoever set up the access point chose it: it may hold control characters.
    public var ssid: String? { ssidBytes.flatMap { String(validating: $0, as: UTF8.self) } }

    /// The access point's address as text: `02:00:00:00:01:00`.
    public var bssid: String? { accessPoint.map { Hexadecimal.text($0, separator: ":") } }

    /// The network's name in hexadecimal digits, two for each byte.
    public var ssidHexadecimal: String? { ssidBytes.map { Hexadecimal.text($0, separator: "") } }

    private enum Hexadecimal {
        static func text(_ bytes: [UInt8], separator: String) -> String {
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined(separator: separator)
        }
    }
}
