import ReachabilityCore
import Testing

struct WiFiDetailsTests {
    private static let wlan = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .nl80211)

    private static func message(_ mode: WirelessMode?, ssid: [UInt8]? = Array("home".utf8)) -> WirelessMessage {
        var message = WirelessMessage(.newInterface, index: 3)
        message.mode = mode
        message.address = [2, 0, 0, 0, 0, 0]
        message.ssid = ssid
        message.frequency = 5_180
        return message
    }

    private static func station(signal: Int8?) -> WirelessMessage {
        var station = WirelessMessage(.newStation, index: 3)
        station.address = [0xAB, 0, 0, 0xF, 1, 0]
        station.signal = signal
        return station
    }

    @Test func `a station has its network and its access point`() {
        let details = WiFiDetails(Self.wlan, Self.message(.station), stations: [Self.station(signal: -54)])
        #expect(details.interface == Self.wlan)
        #expect(details.ssid == "home")
        #expect(details.ssidHexadecimal == "686f6d65")
        #expect(details.bssid == "ab:00:00:0f:01:00")
        #expect(details.frequency == 5_180)
        #expect(details.signal == -54)
    }

    @Test(arguments: [nil, 0, 57] as [Int8?])
    func aSignalOnAnotherScaleIsNone(signal: Int8?) {
        let details = WiFiDetails(Self.wlan, Self.message(.station), stations: [Self.station(signal: signal)])
        #expect(details.signal == nil)
        #expect(details.bssid != nil)
    }

    @Test(arguments: [.accessPoint, .mesh, .adHoc, nil] as [WirelessMode?])
    func whoIsNoStationHasNoAccessPoint(mode: WirelessMode?) {
        let details = WiFiDetails(Self.wlan, Self.message(mode), stations: [Self.station(signal: -54)])
        #expect(details.ssid == "home")
        #expect(details.bssid == nil)
        #expect(details.signal == nil)
    }

    @Test func `the name of the own network may be known from the scan only`() {
        var found = WirelessMessage(.scanResult, index: 3)
        found.ssid = Array("other".utf8)
        var own = found
        own.ssid = Array("home".utf8)
        own.frequency = 2_412
        own.isOwnNetwork = true
        var message = Self.message(.station, ssid: nil)
        message.frequency = nil
        let details = WiFiDetails(Self.wlan, message, stations: [], scan: [found, own])
        #expect(details.ssid == "home")
        #expect(details.frequency == 2_412)
        #expect(WiFiDetails(Self.wlan, message, stations: [], scan: [found]).ssid == nil)
        #expect(WiFiDetails(Self.wlan, Self.message(.station), stations: [], scan: [found]).ssid == "home")
    }

    @Test func `an interface that is not associated has no network`() {
        for ssid in [nil, []] as [[UInt8]?] {
            let details = WiFiDetails(Self.wlan, Self.message(.station, ssid: ssid), stations: [])
            #expect(details.ssidBytes == nil)
            #expect(details.ssid == nil)
            #expect(details.ssidHexadecimal == nil)
            #expect(details.bssid == nil)
        }
    }

    @Test func `a name that is not UTF-8 is available as bytes`() {
        let details = WiFiDetails(Self.wlan, Self.message(.station, ssid: [0x61, 0xFF, 0x00]), stations: [])
        #expect(details.ssid == nil)
        #expect(details.ssidBytes == [0x61, 0xFF, 0])
        #expect(details.ssidHexadecimal == "61ff00")
    }

    @Test func `the details of radios are ignored when paths are compared`() {
        let path = NetworkPath(status: .wifi, interface: Self.wlan, carriers: [Self.wlan])
        var detailed = path
        detailed.wifi = [.init(interface: Self.wlan)]
        #expect(detailed == path)
        #expect(detailed.hashValue == path.hashValue)
        #expect(detailed.wifi.count == 1)
        #expect(path.wifi.isEmpty)
        detailed.status = .cellular
        #expect(detailed != path)
        #expect(detailed.wifi.count == 1)
    }
}
