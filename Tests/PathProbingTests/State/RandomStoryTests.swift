import NetworkLab
import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// 10,000 random stories, with an oracle that knows only what was given and what came out.
struct RandomStoryTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `no story breaks a promise`(part: UInt64) {
        for number in 0..<500 as Range<UInt64> {
            var story = RandomStory(seed: part * 500 + number)
            story.play()
            #expect(story.oracle.faults.value.isEmpty, "story \(part * 500 + number): \(story.oracle.faults.value)")
        }
    }

    @Test func `the stories reach every verdict, trigger and reason`() {
        var seen: Set<String> = []
        for seed in 0..<600 as Range<UInt64> {
            var story = RandomStory(seed: seed)
            story.play()
            seen.formUnion(story.oracle.seen.value)
        }
        let reasons: [NoInternetReason] = [
            .noResponse, .unreachable, .refused, .connectionCut, .nameServer, .unknownNames, .interception(""),
            .proxyLogin,
        ]
        let expected =
            ["validated", "portal", "notChecked", "traffic", "portalAPI", "session", "nat64"] + reasons.map(\.name)
        #expect(seen.isSuperset(of: expected + ValidationTrigger.allCases.map(\.rawValue)), "\(seen)")
    }
}

/// A story of random events on a random network.
struct RandomStory {
    let oracle: ValidationOracle
    private var generator: SeededGenerator
    private var story: ValidationStory
    private let configuration: ValidationConfiguration
    private let network = Box(Network.works)

    /// What the network does.
    private enum Network {
        case works, silent, portal, intercepted, proxyLogin, noNames, unknownNames, refuses, cuts, unreachable
        case down(Int)
        case busy
    }

    init(seed: UInt64) {
        generator = .init(seed: seed)
        configuration = Self.configuration(&generator)
        story = .init(configuration)
        oracle = .init(configuration)
        story.latency = .milliseconds(Int.random(in: 0...6_000, using: &generator))
        let network = network
        let endpoints = configuration.endpoints
        story.network = { Self.outcome(network.value, $0, endpoints) }
        let oracle = oracle
        story.observe = { oracle.check($0, $1, $2, $3) }
    }

    private static func configuration(_ generator: inout SeededGenerator) -> ValidationConfiguration {
        let all: [ValidationEndpoint] = [.plain, .otherPlain, .secure, .handshake, .connection, .name]
        let endpoints = all.shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator))
        return .init(
            endpoints: Array(endpoints),
            timeout: .milliseconds(Int.random(in: 100...6_000, using: &generator)),
            secondOpinionDelay: .milliseconds(Int.random(in: 0...2_000, using: &generator)),
            minimumInterval: .milliseconds(Int.random(in: 1...3_000, using: &generator)),
            maximumInterval: .seconds(Int.random(in: 3...900, using: &generator)),
            probesPerDay: Int.random(in: 0...60, using: &generator),
            probesMeteredPaths: .random(using: &generator),
            failuresBeforeLoss: Int.random(in: 1...3, using: &generator)
        )
    }

    /// Plays random events, and then a long quiet time in which everything works.
    mutating func play() {
        for _ in 0..<Int.random(in: 5...40, using: &generator) {
            step()
            let limit = [50, 2_000, 60_000, 7_200_000].randomElement(using: &generator) ?? 0
            story.pass(.milliseconds(Int.random(in: 0...limit, using: &generator)))
        }
        end()
    }

    private mutating func step() {
        let path = Bool.random(using: &generator) ? story.state.pathNumber : story.state.pathNumber &- 1
        switch Int.random(in: 0..<24, using: &generator) {
        case 0...2:
            story.play(
                .pathChanged([.wifi, .wired, .cellular, .ipv6Only, nil].randomElement(using: &generator) ?? nil)
            )
        case 3, 4: story.play(.requestFailed(path: path))
        case 5: story.play(.requestSucceeded(path: path, isAuthenticated: .random(using: &generator)))
        case 6: story.play(.checkRequested)
        case 7: story.play(.gatewayFailed(ValidationPath.wifi.gateways[0], .random(in: 2...3, using: &generator)))
        case 8:
            let source = Bool.random(using: &generator) ? AnnouncementSource.lease : .router
            let interface = InterfaceIndex.random(in: 3...5, using: &generator)
            story.play(
                .portalAnnounced(Self.announcements.randomElement(using: &generator) ?? "", interface, by: source)
            )
        case 18:
            let lifetime = Duration.seconds(Int.random(in: 0...2_000, using: &generator))
            let interface = InterfaceIndex.random(in: 3...5, using: &generator)
            story.play(.translatorAnnounced(.wellKnown, lifetime: lifetime, interface))
        case 19: story.translators = [nil, [], [.wellKnown]].randomElement(using: &generator) ?? nil
        case 20: story.play(.translatorFound(path: path, [.wellKnown]))
        case 9, 16, 17: story.portal = reply()
        case 22: story.play(.demandChanged(true))
        case 23: story.play(.demandChanged(false))
        case 10: story.latency = .milliseconds(Int.random(in: 0...6_000, using: &generator))
        case 11: story.play(.answered(round: .random(in: 0...9, using: &generator), position: 0, .noContent))
        case 21: overtake()
        default: network.value = change()
        }
    }

    /// A request is answered while a round that somebody asked for runs.
    private mutating func overtake() {
        story.play(.checkRequested)
        story.pass(.milliseconds(Int.random(in: 0...8_000, using: &generator)))
        story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: true))
    }

    private static let announcements = [
        "https://a.example/", "https://b.example/", RouterOption.unrestrictedURI, "http://c.example/",
    ]

    private mutating func reply() -> PortalReply? {
        let seconds = Int64.random(in: 0...100, using: &generator)
        let open = PortalReply(isCaptive: false, secondsLeft: seconds < 80 ? seconds : nil)
        return [nil, PortalReply(isCaptive: true, loginURL: "https://a.example/login"), open].randomElement(
            using: &generator
        ) ?? nil
    }

    private mutating func change() -> Network {
        let broken = Int.random(in: 0..<3, using: &generator)
        let all: [Network] = [
            .works, .works, .works, .silent, .portal, .intercepted, .proxyLogin, .noNames, .unknownNames, .refuses,
            .cuts,
            .unreachable, .down(broken), .busy,
        ]
        return all.randomElement(using: &generator) ?? .works
    }

    /// The last days: nothing disturbs, and the budget recovers.
    private mutating func end() {
        network.value = .works
        story.portal = nil
        story.latency = .milliseconds(10)
        story.play(.demandChanged(false))
        story.play(.pathChanged(.wired))
        story.pass(.seconds(3 * 86_400))
        oracle.checkEnd(story)
    }

    private static func outcome(_ network: Network, _ position: Int, _ endpoints: [ValidationEndpoint]) -> ProbeOutcome?
    {
        switch network {
        case .works: success(endpoints[position])
        case .silent: nil
        case .portal: portal(endpoints[position])
        case .intercepted: endpoints[position].isTLS ? .certificateRefused("foreign") : success(endpoints[position])
        case .proxyLogin: .proxyLogin
        case .noNames: .failed(.nameServer)
        case .unknownNames: .failed(.unknownName)
        case .refuses: .failed(.refused)
        case .cuts: .failed(.connectionCut)
        case .unreachable: .failed(.unreachable)
        case .down(let broken): position == broken ? .failed(.refused) : success(endpoints[position])
        case .busy: .unusable("busy")
        }
    }

    private static func success(_ endpoint: ValidationEndpoint) -> ProbeOutcome {
        switch endpoint.probe {
        case .http: .noContent
        case .tls: .connected(isAuthenticated: true)
        case .tcp: .connected(isAuthenticated: false)
        case .dns: .nameAnswer(code: 0, addresses: [.init(ipv4: 1)])
        }
    }

    /// A portal redirects plain HTTP, cuts TLS, and lets the rest through.
    private static func portal(_ endpoint: ValidationEndpoint) -> ProbeOutcome? {
        switch endpoint.probe {
        case .http where !endpoint.isTLS: .redirect("http://hotel.example/")
        case .http, .tls: nil
        case .tcp, .dns: success(endpoint)
        }
    }
}

extension ValidationEndpoint {
    fileprivate var isTLS: Bool { self == .secure || self == .handshake }
}

/// A value that closures share; each story is played by one task.
final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
