import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// What is concluded, and when.
struct ValidationVerdictTests {
    /// Plays a new path behind which endpoints answer like this.
    private static func story(
        _ endpoints: [ValidationEndpoint],
        _ network: @escaping (Int) -> ProbeOutcome?
    ) -> ValidationStory {
        var story = ValidationStory(.init(endpoints: endpoints))
        story.network = network
        story.play(.pathChanged(.wifi))
        return story
    }

    @Test func `a portal that redirects is named with its page, in less than two seconds`() {
        var story = Self.story([.plain, .handshake]) { $0 == 0 ? .redirect("http://hotel.example/login") : nil }
        story.pass(.milliseconds(1_500))
        #expect(story.verdict == .portal(.init(loginURL: "http://hotel.example/login")))
        #expect(story.probes.count == 2)
    }

    @Test func `a foreign certificate on all endpoints is an interception`() {
        var story = Self.story([.secure, .handshake]) { _ in .certificateRefused("issued by 'Hotel'") }
        story.pass(.seconds(1))
        #expect(story.verdict == .noInternet(.interception("issued by 'Hotel'")))
    }

    @Test func `an endpoint that is down is told from the path, and named`() {
        var story = Self.story([.plain, .otherPlain]) { $0 == 0 ? .failed(.refused) : .noContent }
        story.pass(.seconds(1))
        #expect(story.verdict == .validated)
        #expect(story.state.report.endpointsInTrouble.map(\.endpoint) == [.plain])
        #expect(!story.state.report.isNameServerInTrouble)
    }

    @Test func `a silent endpoint delays the verdict by the time until a second opinion only`() {
        var story = Self.story([.plain, .otherPlain]) { $0 == 0 ? nil : .noContent }
        story.pass(.milliseconds(1_100))
        #expect(story.verdict == .validated && story.probes.count == 2)
    }

    @Test func `a lone endpoint that refuses or errs allows no conclusion`() {
        for outcome in [
            ProbeOutcome.failed(.refused), .serverError, .failed(.unknownName), .unusable("no descriptors"),
        ] {
            var story = Self.story([.plain]) { _ in outcome }
            story.pass(.seconds(10))
            #expect(story.verdict == .notChecked, "\(outcome)")
            #expect(story.state.report.checkedAt == nil)
            guard case .probes(let findings) = story.state.report.evidence else {
                Issue.record("no evidence")
                continue
            }
            #expect(findings.count == 1)
        }
    }

    @Test func `rounds without a conclusion are published once, with what was tried`() {
        var story = Self.story([.plain]) { _ in .failed(.refused) }
        story.pass(.seconds(100))
        #expect(story.probes.count > 1 && story.published.count == 2)
        guard case .probes(let findings)? = story.published.last?.evidence else {
            Issue.record("no evidence")
            return
        }
        #expect(findings.map(\.meaning) == [.failed(.refused)])
        story.network = { _ in .serverError }
        story.pass(.seconds(1_000))
        #expect(story.published.count == 3 && story.verdict == .notChecked)
    }

    @Test func `a dead name server is told from a dead path`() {
        var dead = Self.story([.plain, .otherPlain]) { _ in .failed(.nameServer) }
        dead.pass(.seconds(1))
        #expect(dead.verdict == .noInternet(.nameServer))
        var alive = Self.story([.plain, .connection]) {
            $0 == 0 ? .failed(.nameServer) : .connected(isAuthenticated: false)
        }
        alive.pass(.seconds(1))
        #expect(alive.verdict == .validated && alive.state.report.isNameServerInTrouble)
    }

    @Test func `a proxy that asks for a login is named`() {
        var story = Self.story([.secure]) { _ in .proxyLogin }
        story.pass(.seconds(1))
        #expect(story.verdict == .noInternet(.proxyLogin))
    }

    @Test func `one silent round does not take a verdict away, two do`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.pass(.seconds(100))
        story.network = { _ in nil }
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.milliseconds(5_500))
        #expect(story.verdict == .validated && story.state.report.pendingTrigger == .confirmation)
        #expect(story.state.report.age(at: story.now).map { $0 > .seconds(100) } == true)
        story.pass(.seconds(6))
        #expect(story.verdict == .noInternet(.noResponse))
    }

    @Test func `answers that arrive while the process is stopped count`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.stop(for: .seconds(60))
        #expect(story.published.map(\.verdict) == [.notChecked, .validated])
    }

    @Test func `a round in which the process was stopped is extended once`() {
        var story = Self.story([.plain]) { _ in nil }
        story.stop(for: .seconds(60))
        #expect(story.verdict == .notChecked && story.probes.count == 1)
        story.stop(for: .seconds(60))
        #expect(story.verdict == .noInternet(.noResponse))
    }

    @Test func `a silent round that is refuted leaves no trace`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.pass(.seconds(100))
        story.network = { _ in nil }
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.milliseconds(5_500))
        story.network = { _ in .noContent }
        story.pass(.seconds(2))
        #expect(story.verdict == .validated && story.state.report.pendingTrigger == nil)
        #expect(story.published.map(\.verdict) == [.notChecked, .validated])
        // Another silence has to be confirmed again.
        story.pass(.seconds(3_000))
        story.network = { _ in nil }
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.milliseconds(5_500))
        #expect(story.verdict == .validated)
    }

    @Test(arguments: [true, false])
    func `a report of a router or of the kernel needs no confirmation`(isGateway: Bool) {
        var story = Self.story([.plain]) { _ in .noContent }
        story.pass(.seconds(100))
        story.network = { _ in isGateway ? nil : .failed(.unreachable) }
        if isGateway {
            story.play(.gatewayFailed(ValidationPath.wifi.gateways[0], 3))
        } else {
            story.play(.requestFailed(path: story.state.pathNumber))
        }
        story.pass(isGateway ? .milliseconds(5_100) : .milliseconds(100))
        #expect(story.verdict == .noInternet(isGateway ? .noResponse : .unreachable))
        #expect(story.probes.count == 2)
    }

    @Test func `a portal that appears on a validated path needs two signs`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.pass(.seconds(100))
        story.network = { _ in .loginPage }
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.milliseconds(500))
        #expect(story.verdict == .validated)
        story.pass(.seconds(1))
        #expect(story.verdict == .portal(.init()))
    }

    @Test func `a login at the portal is noticed within the pause, and at once by traffic`() {
        var story = Self.story([.plain]) { _ in .loginPage }
        story.pass(.seconds(10))
        story.network = { _ in .noContent }
        story.pass(.seconds(10))
        #expect(story.verdict == .validated)
        var other = Self.story([.plain]) { _ in .loginPage }
        other.pass(.seconds(1_000))
        other.play(.requestSucceeded(path: other.state.pathNumber, isAuthenticated: true))
        #expect(other.verdict == .validated)
    }

    @Test func `a verdict ends with its path, and the next begins without one`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.pass(.seconds(10))
        story.play(.pathChanged(nil))
        #expect(story.verdict == .notChecked && story.state.report.path == nil)
        #expect(story.state.report.checkedAt == nil && story.state.report.pendingTrigger == nil)
        // The same network may be another: the interface was away.
        story.play(.pathChanged(.wifi))
        #expect(story.verdict == .notChecked)
        story.pass(.seconds(2))
        #expect(story.verdict == .validated && story.probes.count == 2)
    }

    @Test func `an answer that belongs to an earlier path is dropped`() {
        var story = Self.story([.plain]) { _ in .noContent }
        story.latency = .seconds(2)
        story.pass(.milliseconds(1_500))
        story.network = { _ in nil }
        story.play(.pathChanged(.wired))
        story.pass(.seconds(1))
        #expect(story.verdict == .notChecked)
        story.pass(.seconds(10))
        #expect(story.verdict == .noInternet(.noResponse))
    }

    @Test func `the age is that of the oldest answer on which the verdict rests`() {
        var story = Self.story([.plain, .otherPlain]) { $0 == 0 ? .failed(.connectionCut) : nil }
        let start = story.now
        story.pass(.seconds(10))
        #expect(story.verdict == .noInternet(.noResponse))
        #expect(story.state.report.checkedAt == start.advanced(by: .milliseconds(20)))
        #expect(story.state.report.since > start.advanced(by: .seconds(5)))
    }
}

/// What the portal's own API tells (RFC 8908, RFC 8910).
struct PortalAPITests {
    private static let url = "https://portal.example/api"

    private static func story(_ endpoints: [ValidationEndpoint], _ reply: PortalReply?) -> ValidationStory {
        var story = ValidationStory(.init(endpoints: endpoints))
        story.portal = reply
        // Router advertisements precede the path: the address is still being checked.
        story.play(.portalAnnounced(url, 3))
        story.play(.pathChanged(.wifi))
        return story
    }

    @Test func `an announced portal is asked first, and if it holds the machine back, nothing else is`() {
        var story = Self.story([.plain], .init(isCaptive: true, loginURL: "https://portal.example/login"))
        story.pass(.seconds(1))
        #expect(story.verdict == .portal(.init(loginURL: "https://portal.example/login")))
        #expect(story.state.report.evidence == .portalAPI)
        #expect(story.actions.contains { $0.action == .askPortal(round: 1, url: Self.url) })
        #expect(story.probes.count == 1)
    }

    @Test func `a portal that lets the machine through is no proof`() {
        var story = Self.story([.plain], .init(isCaptive: false, secondsLeft: 600, bytesLeft: 1 << 20))
        story.network = { _ in nil }
        story.pass(.seconds(10))
        #expect(story.verdict == .noInternet(.noResponse))
        #expect(story.probes.count >= 2)
        #expect(story.state.report.session?.bytesLeft == 1 << 20)
    }

    @Test func `the end of the session that the portal granted has the path probed`() {
        var story = Self.story([.plain], .init(isCaptive: false, secondsLeft: 600))
        let start = story.now
        story.pass(.seconds(1))
        #expect(story.verdict == .validated)
        #expect(story.state.report.session?.end == start.advanced(by: .milliseconds(600_020)))
        story.pass(.seconds(598))
        #expect(story.probes.count == 2)
        story.portal = .init(isCaptive: true, loginURL: "https://portal.example/login")
        story.pass(.seconds(2))
        #expect(story.verdict == .portal(.init(loginURL: "https://portal.example/login")))
        #expect(story.state.report.session == nil)
    }

    @Test func `without endpoints, the portal's word is all there is`() {
        var story = Self.story([], .init(isCaptive: true))
        story.pass(.seconds(1))
        #expect(story.verdict == .portal(.init()))
        story.portal = .init(isCaptive: false, secondsLeft: 60)
        story.pass(.seconds(10))
        #expect(story.verdict == .notChecked && story.state.report.session != nil)
    }

    @Test func `a portal's API that is silent is passed over`() {
        var story = Self.story([.plain], nil)
        story.pass(.seconds(6))
        #expect(story.verdict == .validated)
    }

    @Test func `the same announcement again, a plain http one, and one on another interface change nothing`() {
        var story = Self.story([.plain], .init(isCaptive: false))
        story.pass(.seconds(100))
        let before = story.probes.count
        for _ in 0..<100 {
            story.play(.portalAnnounced(Self.url, 3))
            story.play(.portalAnnounced("https://other.example/", 7))
            story.pass(.seconds(10))
        }
        #expect(story.probes.count == before)
        story.play(.portalAnnounced("http://portal.example/api", 3))
        story.pass(.seconds(100))
        #expect(story.probes.count == before)
        // The API is no longer known.
        story.play(.checkRequested)
        story.pass(.seconds(1))
        #expect(story.actions.count { if case .askPortal = $0.action { true } else { false } } == 1)
    }

    @Test func `a portal that is announced later has the path probed`() {
        var story = ValidationStory(.init(endpoints: [.plain]))
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(100))
        story.portal = .init(isCaptive: true)
        story.play(.portalAnnounced(Self.url, 3))
        story.pass(.seconds(1))
        #expect(story.verdict == .portal(.init()))
    }

    @Test func `a network without a portal says so, and is not asked`() {
        var story = ValidationStory(.init(endpoints: [.plain]))
        story.play(.portalAnnounced(RouterOption.unrestrictedURI, 3))
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(1))
        #expect(story.probes.count == 1 && story.verdict == .validated)
    }

    @Test func `an announcement ends with the path through its interface`() {
        var story = Self.story([.plain], .init(isCaptive: true))
        story.pass(.seconds(1))
        story.play(.pathChanged(.wired))
        story.pass(.seconds(10))
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(10))
        #expect(story.verdict == .validated)
    }
}
