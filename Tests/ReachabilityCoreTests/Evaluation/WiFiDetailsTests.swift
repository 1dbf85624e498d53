import ReachabilityCore
import Testing

struct WiFiDetailsTests {
    private static let wlan = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .nl80211)

    private static func answer(_ mode: WirelessMode?, ssid: [UInt8]? = Array("home".utf8)) -> WirelessMessage {
        var answer = WirelessMessage(.newInterface, index: 3)
        answer.mode = mode
        answer.address = [2, 0, 0, 0, 0, 0]
        answer.ssid = ssid
        answer.frequency = 5_180
        return answer
    }

    private static func station(signal: Int8?) -> WirelessMessage {
        var station = WirelessMessage(.newStation, index: 3)
        station.address = [0xAB, 0, 0, 0xF, 1, 0]
        station.signal = signal
        return station
    }

    @Test func aStationTellsItsNetworkAndItsAccessPoint() {
        let details = WiFiDetails(Self.wlan, Self.answer(.station), stations: [Self.station(signal: -54)])
        #expect(details.interface == Self.wlan)
        #expect(details.ssid == "home")
        #expect(details.ssidHexadecimal == "686f6d65")
        #expect(details.bssid == "ab:00:00:0f:01:00")
        #expect(details.frequency == 5_180)
        #expect(details.signal == -54)
    }

    @Test(arguments: [nil, 0, 57] as [Int8?])
    func aSignalOnAnotherScaleIsNone(signal: Int8?) {
        let details = WiFiDetails(Self.wlan, Self.answer(.station), stations: [Self.station(signal: signal)])
        #expect(details.signal == nil)
        #expect(details.bssid != nil)
    }

    @Test(arguments: [.accessPoint, .mesh, .adHoc, nil] as [WirelessMode?])
    func whoIsNoStationHasNoAccessPoint(mode: WirelessMode?) {
        let details = WiFiDetails(Self.wlan, Self.answer(mode), stations: [Self.station(signal: -54)])
        #expect(details.ssid == "home")
        #expect(details.bssid == nil)
        #expect(details.signal == nil)
    }

    @Test func theNameOfTheOwnNetworkMayBeKnownFromTheScanAlone() {
        var found = WirelessMessage(.scanResult, index: 3)
        found.ssid = Array("other".utf8)
        var own = found
        own.ssid = Array("home".utf8)
        own.frequency = 2_412
        own.isOwnNetwork = true
        var answer = Self.answer(.station, ssid: nil)
        answer.frequency = nil
        let details = WiFiDetails(Self.wlan, answer, stations: [], scan: [found, own])
        #expect(details.ssid == "home")
        #expect(details.frequency == 2_412)
        #expect(WiFiDetails(Self.wlan, answer, stations: [], scan: [found]).ssid == nil)
        #expect(WiFiDetails(Self.wlan, Self.answer(.station), stations: [], scan: [found]).ssid == "home")
    }

    @Test func whoIsNotAssociatedHasNoNetwork() {
        for ssid in [nil, []] as [[UInt8]?] {
            let details = WiFiDetails(Self.wlan, Self.answer(.station, ssid: ssid), stations: [])
            #expect(details.ssidBytes == nil)
            #expect(details.ssid == nil)
            #expect(details.ssidHexadecimal == nil)
            #expect(details.bssid == nil)
        }
    }

    @Test func aNameThatIsNoTextIsItsBytes() {
        let details = WiFiDetails(Self.wlan, Self.answer(.station, ssid: [0x61, 0xFF, 0x00]), stations: [])
        #expect(details.ssid == nil)
        #expect(details.ssidBytes == [0x61, 0xFF, 0])
        #expect(details.ssidHexadecimal == "61ff00")
    }

    @Test func whatARadioTellsDoesNotCountWhenPathsAreCompared() {
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
