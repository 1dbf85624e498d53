import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// NAT64: how the translator of a path without IPv4 is found, and what follows.
struct TranslatorTests {
    private static let literal = ValidationEndpoint.tcp("192.0.2.7", port: 443)
    private static let other = NAT64Prefix(.init(.init(family: .ipv6, bits: 0x2001_0DB8_0064 << 80), length: 96))

    private static func ipv6Only(
        _ endpoints: ValidationEndpoint...,
        reveals prefixes: [NAT64Prefix]?
    ) -> ValidationStory {
        var story = ValidationStory(.init(endpoints: endpoints))
        story.translators = prefixes
        return story
    }

    @Test func `a path without IPv4 has its translator asked for once, and named with its source`() {
        var story = Self.ipv6Only(.plain, reveals: [.wellKnown])
        story.play(.pathChanged(.ipv6Only))
        story.pass(.seconds(86_400))
        #expect(story.state.report.nat64 == .init(prefix: .wellKnown, source: .nameServer))
        #expect(story.verdict == .validated)
        #expect(story.translatorQueries == 1)
        #expect(story.probes.count == 2)
    }

    @Test func `a path with IPv4 has no translator, whatever is announced`() {
        var story = Self.ipv6Only(.plain, reveals: [.wellKnown])
        story.play(.translatorAnnounced(.wellKnown, lifetime: .seconds(600), ValidationPath.wifi.interface))
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(60))
        #expect(story.state.report.nat64 == nil)
        #expect(story.translatorQueries == 0)
    }

    @Test func `an announced translator is used from the start, without a query`() {
        var story = Self.ipv6Only(Self.literal, reveals: [.wellKnown])
        story.play(.translatorAnnounced(.wellKnown, lifetime: .seconds(600), ValidationPath.ipv6Only.interface))
        story.play(.pathChanged(.ipv6Only))
        #expect(story.state.report.nat64 == .init(prefix: .wellKnown, source: .routerAdvertisement))
        #expect(story.probes.count == 1)
        #expect(story.translatorQueries == 0)
    }

    @Test func `an announced translator ends with its lifetime, or when it is withdrawn`() throws {
        let other = try #require(Self.other)
        var story = Self.ipv6Only(.plain, reveals: nil)
        let interface = ValidationPath.ipv6Only.interface
        story.play(.pathChanged(.ipv6Only))
        story.play(.translatorAnnounced(.wellKnown, lifetime: .seconds(600), interface))
        story.play(.translatorAnnounced(other, lifetime: .seconds(900), interface))
        #expect(story.state.report.nat64?.prefix == .wellKnown)
        story.pass(.seconds(600))
        #expect(story.state.report.nat64?.prefix == other)
        #expect(story.published.last?.nat64?.prefix == other)
        story.play(.translatorAnnounced(other, lifetime: .zero, interface))
        #expect(story.state.report.nat64 == nil)
        #expect(story.published.last?.nat64 == nil)
    }

    @Test func `an announcement takes precedence over a name server`() throws {
        let other = try #require(Self.other)
        var story = Self.ipv6Only(.plain, reveals: [.wellKnown])
        story.play(.pathChanged(.ipv6Only))
        story.pass(.seconds(1))
        story.play(.translatorAnnounced(other, lifetime: .seconds(600), ValidationPath.ipv6Only.interface))
        #expect(story.state.report.nat64 == .init(prefix: other, source: .routerAdvertisement))
    }

    @Test func `an IPv4 address is asked when the translator is known`() {
        var story = Self.ipv6Only(Self.literal, reveals: [.wellKnown])
        story.latency = .milliseconds(300)
        story.play(.pathChanged(.ipv6Only))
        #expect(story.actions.filter { if case .probe = $0.action { true } else { false } }.isEmpty)
        story.pass(.milliseconds(300))
        #expect(story.actions.contains { if case .probe = $0.action { true } else { false } })
        #expect(story.state.report.nat64 != nil)
    }

    @Test func `a silent name server delays endpoints by no more than a second opinion, and names not at all`() {
        var story = Self.ipv6Only(Self.literal, reveals: nil)
        story.play(.pathChanged(.ipv6Only))
        story.pass(.seconds(1))
        #expect(story.probes.count == 2)
        var named = Self.ipv6Only(.plain, reveals: nil)
        named.play(.pathChanged(.ipv6Only))
        #expect(named.probes.count == 2)
    }

    @Test func `a translator that is found late has addresses asked again`() {
        var story = Self.ipv6Only(Self.literal, reveals: nil)
        story.network = { _ in .failed(.unreachable) }
        story.play(.pathChanged(.ipv6Only))
        story.pass(.seconds(3_000))
        #expect(story.verdict == .noInternet(.unreachable))
        story.network = { _ in .connected(isAuthenticated: false) }
        story.play(.translatorAnnounced(.wellKnown, lifetime: .seconds(600), ValidationPath.ipv6Only.interface))
        story.pass(.seconds(1))
        #expect(story.verdict == .validated)
    }

    @Test func `what a name server reveals late, or of another path, is not believed of the current one`() {
        var story = Self.ipv6Only(.plain, reveals: nil)
        story.play(.pathChanged(.ipv6Only))
        let path = story.state.pathNumber
        story.play(.pathChanged(.wifi))
        story.play(.pathChanged(.ipv6Only))
        story.play(.translatorFound(path: path, [.wellKnown]))
        #expect(story.state.report.nat64 == nil)
    }

    @Test func `a name server that makes no addresses is not asked again`() {
        var story = Self.ipv6Only(.plain, reveals: [])
        story.network = { _ in .failed(.unreachable) }
        story.play(.pathChanged(.ipv6Only))
        story.pass(.seconds(3_600))
        #expect(story.translatorQueries == 1)
    }
}
