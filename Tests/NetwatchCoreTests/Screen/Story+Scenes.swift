import NetwatchCore
import ReachabilityCore

extension Story {
    /// On Wi-Fi since three minutes, with both families; a cable is not plugged in.
    static func wifi(hosts: [String] = [], ssid: String = "office", isASCII: Bool = false) -> Self {
        var story = Self(hosts: hosts, isASCII: isASCII)
        story.linkWithoutCarrier(2, "eth0")
        story.addWiFi(ssid)
        story.publish(.initial, latency: nil)
        story.wait(.milliseconds(4040))
        story.route(.ipv6, via: "fe80::1", on: 3, 1024)
        story.publish(.routeAdded)
        story.sayWiFi(ssid, signal: -54)
        story.sayTraffic([(0, 0), (1200, 300), (45_000, 2000), (0, 0), (3_400_000, 90_000)])
        story.tick(after: .seconds(190))
        return story
    }

    /// An interface wlan0 with default routes.
    mutating func addWiFi(_ ssid: String = "office") {
        link(3, "wlan0")
        device(3, "wlan0", "wlan")
        address(3, "192.0.2.2", 24)
        address(3, "2001:db8::2", 64)
        address(3, "fe80::2", 64)
        route(via: "192.0.2.1", on: 3, 600)
    }

    /// The details that its radio reports.
    mutating func sayWiFi(_ ssid: String, signal: Int) {
        var details = WiFiDetails(interface: .init(index: 3, name: "wlan0", kind: .wifi, kindSource: .devtype))
        details.ssidBytes = Array(ssid.utf8)
        details.signal = signal
        details.accessPoint = [2, 0, 0, 0, 1, 0]
        input(.wifi([details]))
    }

    /// Counters every two seconds, from the bytes per second through wlan0 in each direction; eth0 is idle.
    mutating func sayTraffic(_ rates: [(UInt64, UInt64)]) {
        count(received: 0, sent: 0)
        for (received, sent) in rates {
            wait(.seconds(2))
            count(received: received * 2, sent: sent * 2)
        }
    }

    /// On a modem, after an outage of Wi-Fi.
    static func cellular() -> Self {
        var story = wifi()
        story.wait(.seconds(12))
        story.loseWiFi()
        story.wait(.milliseconds(61_200))
        story.link(4, "wwan0")
        story.device(4, "wwan0", "wwan")
        story.address(4, "100.64.0.7", 30)
        story.route(via: "100.64.0.8", on: 4, 700)
        story.publish(.linkAdded, .addressAdded, .routeAdded, latency: .microseconds(95))
        story.tick(after: .seconds(7))
        return story
    }

    /// Removes the access point and its routes.
    mutating func loseWiFi() {
        linkWithoutCarrier(3, "wlan0")
        removeRoute(via: "192.0.2.1", on: 3, 600)
        removeRoute(.ipv6, via: "fe80::1", on: 3, 1024)
        let fix = "Check the access point, or see which networks there are: iw dev wlan0 scan"
        publish(
            .carrierLost,
            .routeFlushed,
            why: [.init("wlan0 has no carrier, and no other interface has a route.", fix: fix)]
        )
    }

    /// Not reachable for 40 seconds, with a sentence and a fix.
    static func notReachable() -> Self {
        var story = wifi()
        story.wait(.seconds(12))
        story.loseWiFi()
        story.sayTraffic([(0, 0)])
        story.tick(after: .seconds(40))
        return story
    }

    /// A tunnel over Wi-Fi, in another namespace.
    static func tunnel() -> Self {
        var story = Self(namespace: "vpn")
        story.addWiFi()
        story.link(5, "wg0") { message in
            (message.hardwareType, message.kind, message.operationalState) = (.none, "wireguard", .unknown)
            message.flags = [.up, .running, .lowerUp, .noARP, .pointToPoint]
        }
        story.address(5, "10.8.0.2", 24)
        story.route(via: nil, on: 5, 50)
        story.publish(.initial, latency: nil)
        story.tick(after: .seconds(3700))
        return story
    }

    /// A machine with many veths, on a cable.
    static func manyInterfaces() -> Self {
        var story = Self()
        story.link(2, "eth0")
        story.address(2, "198.51.100.20", 24)
        story.route(via: "198.51.100.1", on: 2, 100)
        for index in InterfaceIndex(10)..<70 {
            if index % 3 == 0 {
                story.linkWithoutCarrier(index, "veth\(index)a1b2c3")
            } else {
                story.link(index, "veth\(index)a1b2c3") { $0.kind = "veth" }
            }
            story.address(index, "fe80::\(index)", 64)
        }
        story.publish(.initial, latency: nil)
        story.tick(after: .seconds(86_400))
        return story
    }

    /// Names that the kernel and access points allow.
    static func strangeNames() -> Self {
        var story = Self()
        story.link(2, "a\u{1B}[31mred\u{7}x")
        story.link(4, "日本語のなまえ")
        story.link(6, "verylongname15c")
        story.addWiFi()
        story.publish(.initial, latency: nil)
        story.sayWiFi("👨‍👩‍👧 Café ☕️ e\u{301}\u{302}\u{303} العربية\u{202E}", signal: -71)
        story.tick(after: .seconds(5))
        return story
    }

    /// Hosts in each of their states.
    static func destinations() -> Self {
        var story = wifi(hosts: ["192.0.2.7", "api.example.com", "no-such-host.example", "new.example.com"])
        let wlan0 = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .devtype)
        let near = DestinationRoute(to: .of("192.0.2.7"), status: .wifi, interface: wlan0, source: .of("192.0.2.2"))
        story.input(.destination(0, .paths([near]), at: story.moment))
        let far = DestinationRoute(to: .of("203.0.113.5"), status: .wifi, interface: wlan0, gateway: .of("192.0.2.1"))
        let none = DestinationRoute(to: .of("2001:db8:5::5"), status: .notReachable, reasons: [.unreachable])
        story.input(.destination(1, .paths([none, far]), at: story.moment))
        story.input(.destination(2, .failed("no address for this name"), at: story.moment))
        story.tick(after: .seconds(75))
        return story
    }

    /// Twenty short outages, one after another.
    static func restless() -> Self {
        var story = wifi()
        for second in 0..<20 {
            story.wait(.seconds(60 + second))
            story.loseWiFi()
            story.wait(.seconds(second) + .milliseconds(340))
            story.link(3, "wlan0")
            story.route(via: "192.0.2.1", on: 3, 600)
            story.publish(.carrierGained, .routeAdded, latency: .microseconds(100 + second * 37))
            story.sayWiFi("office", signal: -54)
        }
        story.tick(after: .seconds(30))
        return story
    }
}
