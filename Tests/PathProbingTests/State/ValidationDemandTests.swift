import PathProbing
import Testing
import ValidationCore

/// Rounds while requests wait for the verdict.
struct ValidationDemandTests {
    @Test func `a metered path is probed while requests wait, and no longer`() {
        var story = ValidationStory(.plain)
        story.network = { _ in .loginPage }
        story.play(.pathChanged(.cellular))
        story.pass(.seconds(3_600))
        #expect(story.probes.isEmpty)
        story.play(.demandChanged(true))
        story.pass(.seconds(60))
        #expect(story.verdict == .portal(.init()))
        // At 0, 1, 3, 7, 15, 31 seconds, roughly.
        #expect((5...7).contains(story.probes.count), "\(story.probes.count)")
        let count = story.probes.count
        story.play(.demandChanged(false))
        story.pass(.seconds(86_400))
        #expect(story.probes.count == count)
    }

    @Test func `a login at the portal of a metered path is noticed while requests wait`() {
        var story = ValidationStory(.plain)
        story.network = { _ in .loginPage }
        story.play(.pathChanged(.cellular))
        story.play(.demandChanged(true))
        story.pass(.seconds(10))
        story.network = { _ in .noContent }
        story.pass(.seconds(10))
        #expect(story.verdict == .validated)
        let count = story.probes.count
        story.pass(.seconds(86_400))
        #expect(story.probes.count == count, "a validated path is not probed again, also if requests still wait")
    }

    @Test func `a path that comes while requests wait is probed at once, also without a budget`() {
        var story = ValidationStory(.init(endpoints: [.plain], probesPerDay: 0))
        story.play(.demandChanged(true))
        story.pass(.seconds(10))
        #expect(story.probes.isEmpty, "there is no path")
        story.play(.pathChanged(.cellular))
        story.pass(.seconds(1))
        #expect(story.verdict == .validated && story.probes.count == 1)
    }

    @Test func `requests that come and go don't shorten the pauses`() {
        var story = ValidationStory(.plain)
        story.network = { _ in .loginPage }
        story.play(.pathChanged(.cellular))
        for _ in 0..<600 {
            story.play(.demandChanged(true))
            story.pass(.milliseconds(50))
            story.play(.demandChanged(false))
            story.pass(.milliseconds(50))
        }
        #expect(story.probes.count <= 7, "\(story.probes.count)")
    }

    @Test func `a round without a conclusion is told from none, until the path changes`() {
        var story = ValidationStory(.plain)
        story.network = { _ in .serverError }
        story.play(.pathChanged(.wifi))
        #expect(!story.state.isInconclusive)
        story.pass(.seconds(1))
        #expect(story.verdict == .notChecked && story.state.isInconclusive)
        story.play(.pathChanged(.wired))
        #expect(!story.state.isInconclusive)
        story.play(.pathChanged(nil))
        #expect(!story.state.isInconclusive)
    }

    @Test func `without endpoints a path can't be checked, except by traffic`() {
        var story = ValidationStory()
        #expect(!story.state.isInconclusive, "there is no path")
        story.play(.pathChanged(.wifi))
        #expect(story.state.isInconclusive)
        story.play(.requestSucceeded(path: story.state.pathNumber, isAuthenticated: true))
        #expect(story.verdict == .validated && !story.state.isInconclusive)
    }
}
