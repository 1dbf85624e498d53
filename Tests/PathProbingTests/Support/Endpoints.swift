import PathProbing
import ReachabilityCore
import ValidationCore

extension ValidationEndpoint {
    /// Plain HTTP that answers 204.
    static let plain = http("http://own.example/generate_204")
    /// Another one at another place.
    static let otherPlain = http("http://other.example/generate_204")
    /// HTTP over TLS that answers 204.
    static let secure = http("https://own.example/generate_204")
    static let handshake = Self.tls("own.example")
    static let connection = Self.tcp("192.0.2.7", port: 443)
    static let name = Self.dns("own.example")

    private static func http(_ url: String) -> Self {
        guard let endpoint = Self.http(url, expecting: .status(204)) else { preconditionFailure("\(url) is no URL") }
        return endpoint
    }
}

extension ProbeOutcome {
    static let noContent = Self.response(.init(status: 204))
    static let serverError = Self.response(.init(status: 503, body: Array("busy".utf8)))
    static let loginPage = Self.response(.init(status: 200, body: Array("<html>Log in".utf8)))

    static func redirect(_ location: String, status: Int = 302) -> Self {
        .response(.init(status: status, location: location))
    }
}

extension ValidationInstant {
    /// An instant in seconds after the clock's beginning.
    static func at(_ seconds: Int) -> Self { .init(nanoseconds: Int64(seconds) * 1_000_000_000) }
}

extension ValidationPath {
    static let wifi = Self(
        interface: 3,
        name: "wlan0",
        gateways: [.init(ipv4: 0xC000_0201)],
        networks: [.init(.init(ipv4: 0xC000_0202), length: 32)]
    )
    static let wired = Self(interface: 2, name: "eth0", gateways: [.init(ipv4: 0xC633_6401)])
    static let ipv6Only = Self(
        interface: 5,
        name: "eth1",
        networks: [.init(.init(family: .ipv6, bits: 0x2001_0DB8 << 96), length: 64)]
    )
    static let cellular = Self(interface: 4, name: "wwan0", isMetered: true)
}
