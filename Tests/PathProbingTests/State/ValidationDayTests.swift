import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// Whole days, played in the model.
struct ValidationDayTests {
    private static let day = Duration.seconds(86_400)

    @Test func `a stable path is probed once a day: when it begins`() {
        var story = ValidationStory(.plain, .otherPlain)
        story.play(.pathChanged(.wifi))
        for _ in 0..<1_440 {
            story.pass(.seconds(60))
            story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: true))
        }
        print("validation day: a stable path with requests every minute: \(story.probes.count) probe")
        #expect(story.probes.count == 1)
        #expect(story.state.report.age(at: story.now) == .zero)
    }

    @Test func `a stable path without any traffic is probed once, and says how old that is`() {
        var story = ValidationStory(.plain)
        story.play(.pathChanged(.wifi))
        story.pass(Self.day)
        print("validation day: a stable path without requests: \(story.probes.count) probe")
        #expect(story.probes.count == 1)
        #expect(story.state.report.age(at: story.now) == Self.day - .milliseconds(20))
    }

    @Test func `a path that comes and goes all day stays within the budget, which lasts all day`() {
        var story = ValidationStory(.plain, .otherPlain)
        let start = story.now
        for round in 0..<28_800 {
            story.play(.pathChanged(round.isMultiple(of: 2) ? .wifi : nil))
            story.pass(.seconds(3))
        }
        print("validation day: a path that changes every 3 s: \(story.probes.count) probes")
        #expect((100...200).contains(story.probes.count), "\(story.probes.count)")
        let quarters = (0..<4).map { quarter in
            story.probes.count { Int(start.duration(to: $0) / .seconds(21_600)) == quarter }
        }
        #expect(quarters.allSatisfy { $0 > 0 }, "\(quarters)")
    }

    @Test func `a dead uplink is probed after pauses that grow`() {
        var story = ValidationStory(.plain, .otherPlain)
        story.network = { _ in nil }
        story.play(.pathChanged(.wifi))
        story.pass(Self.day)
        print("validation day: a dead uplink: \(story.probes.count) probes")
        #expect((100...200).contains(story.probes.count), "\(story.probes.count)")
        let rounds = zip(story.probes, story.probes.dropFirst()).map { $0.duration(to: $1) }
        #expect(rounds.filter { $0 > .seconds(2) }.prefix(3).allSatisfy { $0 < .seconds(11) })
        #expect(story.published.map(\.verdict) == [.notChecked, .noInternet(.noResponse)])
    }

    @Test func `a machine behind a portal for a day stays within the budget, and notices the login`() {
        var story = ValidationStory(.plain, .otherPlain)
        story.network = { _ in .redirect("http://hotel.example/") }
        story.play(.pathChanged(.wifi))
        story.pass(Self.day)
        #expect(story.probes.count <= 200)
        story.network = { _ in .noContent }
        story.pass(.seconds(3_600))
        #expect(story.verdict == .validated)
    }

    @Test func `an uplink that loses packets is never called dead`() {
        // Every other probe is lost, which TCP repeats less often than it could.
        var lost = 0
        var story = ValidationStory(.plain, .otherPlain)
        story.network = { _ in
            lost += 1
            return lost.isMultiple(of: 2) ? .noContent : nil
        }
        story.play(.pathChanged(.wifi))
        for _ in 0..<100 {
            story.play(.requestFailed(path: story.state.pathNumber))
            story.pass(.seconds(700))
        }
        #expect(story.published.allSatisfy { $0.verdict == .validated || $0.verdict == .notChecked })
    }

    @Test
    func `an endpoint that is down for a day is not probed more than the budget allows, and never called no internet`()
    {
        var story = ValidationStory(.plain)
        story.network = { _ in .serverError }
        story.play(.pathChanged(.wifi))
        for _ in 0..<1_440 {
            story.pass(.seconds(60))
            story.play(.requestFailed(path: story.state.pathNumber))
        }
        #expect(story.probes.count <= 200)
        // The path, and what was tried.
        #expect(story.published.map(\.verdict) == [.notChecked, .notChecked])
    }
}
