import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// When probes are sent.
struct ValidationTriggerTests {
    @Test func `a new path is probed once, with the first endpoint only`() {
        var story = ValidationStory(.plain, .otherPlain)
        story.play(.pathChanged(.wifi))
        #expect(story.verdict == .notChecked && story.state.report.pendingTrigger == .pathChanged)
        story.pass(.seconds(1))
        #expect(story.verdict == .validated)
        #expect(story.probes.count == 1)
        #expect(story.published.map(\.verdict) == [.notChecked, .validated])
    }

    @Test func `without endpoints nothing is sent`() {
        var story = ValidationStory()
        story.play(.pathChanged(.wifi))
        story.play(.requestFailed(path: story.state.pathNumber))
        story.play(.checkRequested)
        story.pass(.seconds(86_400))
        #expect(story.probes.isEmpty && story.verdict == .notChecked)
        #expect(story.checks.map(\.verdict) == [.notChecked])
        #expect(story.state.wakeUp(after: story.now) == nil)
    }

    @Test func `without a path nothing is sent`() {
        var story = ValidationStory(.plain)
        story.play(.checkRequested)
        story.pass(.seconds(10))
        #expect(story.probes.isEmpty && story.checks.count == 1)
        #expect(story.state.wakeUp(after: story.now) == nil)
    }

    @Test func `a failed request has the path probed; further failures wait for the pause`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(3_600))
        for _ in 0..<100 {
            story.play(.requestFailed(path: story.state.pathNumber))
            story.pass(.milliseconds(600))
        }
        // At 0, 1, 3, 7, 15, 31 seconds, roughly, as the server is down and not the path.
        #expect((6...8).contains(story.probes.count), "\(story.probes.count)")
        #expect(story.verdict == .validated)
    }

    @Test func `an outage long after another is noticed at once again`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        for _ in 0..<20 {
            story.pass(.seconds(15))
            story.play(.requestFailed(path: story.state.pathNumber))
        }
        story.pass(.seconds(3_000))
        let before = story.probes.count
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.milliseconds(10))
        #expect(story.probes.count == before + 1)
    }

    @Test func `a failure on an earlier path says nothing about the current one`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        let old = story.state.pathNumber
        story.play(.pathChanged(.wired))
        story.pass(.seconds(100))
        let before = story.probes.count
        story.play(.requestFailed(path: old))
        story.play(.requestSucceeded(path: old, isAuthenticated: true))
        story.pass(.seconds(100))
        #expect(story.probes.count == before)
        #expect(story.state.report.evidence != .traffic)
    }

    @Test func `a gateway that does not answer has the path probed, another neighbour does not`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(100))
        story.play(.gatewayFailed(.init(ipv4: 0xC000_0263), 3))
        story.play(.gatewayFailed(ValidationPath.wifi.gateways[0], 9))
        story.pass(.seconds(100))
        #expect(story.probes.count == 1)
        story.play(.gatewayFailed(ValidationPath.wifi.gateways[0], 3))
        story.pass(.seconds(1))
        #expect(story.probes.count == 2)
    }

    @Test func `a metered path is probed on demand only`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.cellular))
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.seconds(86_400))
        #expect(story.probes.isEmpty)
        #expect(story.state.report.pendingTrigger == .pathChanged)
        story.play(.checkRequested)
        story.pass(.seconds(1))
        #expect(story.probes.count == 1 && story.verdict == .validated)
        #expect(story.checks.map(\.verdict) == [.validated])
        story.play(.requestFailed(path: story.state.pathNumber))
        story.pass(.seconds(86_400))
        #expect(story.probes.count == 1 && story.verdict == .validated)
        // The verdict stands, with its age and what has happened since.
        #expect(story.state.report.pendingTrigger == .requestFailed)
        #expect(story.state.report.age(at: story.now).map { $0 > .seconds(86_400) } == true)
    }

    @Test func `a metered path is probed if the configuration allows it`() {
        var story = ValidationStory(.init(endpoints: [.plain], probesMeteredPaths: true))
        story.play(.pathChanged(.cellular))
        story.pass(.seconds(1))
        #expect(story.verdict == .validated)
    }

    @Test func `a check sends a probe even if everything works, and all who asked get its report`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(100))
        story.play(.checkRequested)
        story.play(.checkRequested)
        story.pass(.seconds(1))
        #expect(story.probes.count == 2)
        #expect(story.checks.map(\.verdict) == [.validated])
        #expect(story.checks.first?.age(at: story.now).map { $0 <= .seconds(1) } == true)
    }

    @Test func `a check waits for the confirmation of a failure`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(100))
        story.network = { _ in nil }
        story.play(.checkRequested)
        story.pass(.seconds(9))
        #expect(story.checks.isEmpty)
        story.pass(.seconds(2))
        #expect(story.checks.map(\.verdict) == [.noInternet(.noResponse)])
    }

    @Test func `a check during a change of the path is about the new one`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.play(.checkRequested)
        story.play(.pathChanged(.cellular))
        story.pass(.seconds(1))
        #expect(story.checks.map(\.path) == [.cellular])
        #expect(story.checks.map(\.verdict) == [.validated])
        story.play(.checkRequested)
        story.play(.pathChanged(nil))
        #expect(story.checks.count == 2 && story.checks.last?.path == nil)
    }

    @Test func `traffic that succeeds takes the place of the probe`() {
        var story = ValidationStory(.plain)
        story.latency = .seconds(1)
        story.play(.pathChanged(.wifi))
        story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: true))
        #expect(story.verdict == .validated && story.state.report.evidence == .traffic)
        story.pass(.seconds(86_400))
        // The probe under way is given up.
        #expect(story.probes.count == 1)
        #expect(story.actions.contains { $0.action == .cancel(round: 1) })
        #expect(story.state.report.evidence == .traffic)
    }

    @Test func `traffic before the probe makes it unnecessary`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wired))
        story.pass(.milliseconds(500))
        story.play(.pathChanged(.wifi))
        // The next round is due half a second later.
        story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: true))
        story.pass(.seconds(86_400))
        #expect(story.probes.count == 1 && story.verdict == .validated)
    }

    @Test func `plain HTTP is no proof, because a portal answers it`() {
        var story = ValidationStory(.plain)
        story.network = { _ in .loginPage }
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(1))
        #expect(story.verdict == .portal(.init()))
        for _ in 0..<10 {
            story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: false))
            #expect(story.verdict == .portal(.init()))
        }
    }

    @Test func `plain HTTP that is answered again after an outage ends the pause, once`() {
        var story = ValidationStory(.plain)
        story.network = { _ in nil }
        story.play(.pathChanged(.wifi))
        story.pass(.seconds(4_000))
        let before = story.probes.count
        for _ in 0..<50 {
            story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: false))
            story.pass(.seconds(6))
        }
        #expect(story.probes.count <= before + 3)
        #expect(story.probes.dropFirst(before).first?.duration(to: story.now) == .seconds(300))
    }
}
