import EventCore
import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct SilenceTests {
    /// A machine that is online on Wi-Fi with the event 1.10, and silent from second 600 on.
    private func silentMachine() -> FleetStory {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.state(.init(1, 9, .wifi, at: -60)), at: 0)
        story.receive(.event(.init(1, 9, .wifi, at: -60)), at: 0)
        story.receive(.state(.init(1, 10, .wifi, at: 5)), at: 5)
        story.receive(.event(.init(1, 10, .wifi, at: 5)), at: 5)
        story.receive(.lost(), at: 600)
        return story
    }

    @Test func `a machine that is lost is silent after the grace time, and why is unknown`() throws {
        var story = silentMachine()
        #expect(try story.node().presence == .online)
        #expect(story.model.nextChange == FleetStory.time(605))
        story.wait(until: 605)
        let node = try story.node()
        #expect(node.presence == .silent && node.state == .unknown && node.lastState == .wifi)
        #expect(node.silence == .init(start: FleetStory.time(600), end: nil, cause: .unknown))
    }

    @Test func `no path: the events that arrive later say so, with the reasons`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 900)
        story.receive(.state(.init(1, 12, .wifi, at: 895)), at: 900)
        var node = try story.node()
        #expect(node.presence == .online && node.silence?.cause == .unknown && node.backlog == 2)
        let reasons = ["link.carrier.lost", "route.none"]
        story.receive(.event(.init(1, 11, .notReachable, at: 500, reasons: reasons)), at: 901)
        node = try story.node()
        #expect(node.silence?.cause == .unknown && node.backlog == 1)
        story.receive(.event(.init(1, 12, .wifi, at: 895)), at: 901)
        node = try story.node()
        #expect(node.silence?.cause == .noPath(reasons) && node.backlog == 0)
        #expect(node.silence?.end == FleetStory.time(900))
    }

    @Test func `no path: the event that says so was known before, or came before the link`() throws {
        for arrival in [500.0, 899] {
            var story = FleetStory()
            story.receive(.birth(), at: 0)
            story.receive(.state(.init(1, 10, .wifi, at: 5)), at: 5)
            if arrival < 600 { story.receive(.event(.init(1, 11, .notReachable, at: 500)), at: arrival) }
            story.receive(.lost(), at: 600)
            if arrival > 600 { story.receive(.event(.init(1, 11, .notReachable, at: 500)), at: arrival) }
            story.receive(.birth(), at: 900)
            story.receive(.state(.init(1, 12, .wifi, at: 895)), at: 900)
            story.receive(.event(.init(1, 12, .wifi, at: 895)), at: 900)
            #expect(try story.node().silence?.cause == .noPath([]))
        }
    }

    @Test func `a clock that is hours off does not change the cause`() throws {
        for offset in [-20_000.0, 20_000] {
            var story = FleetStory()
            story.receive(.birth(), at: 0)
            story.receive(.state(.init(1, 1, .wifi, at: offset)), at: 0)
            story.receive(.lost(), at: 600)
            story.receive(.birth(), at: 900)
            story.receive(.state(.init(1, 3, .wifi, at: 895 + offset)), at: 900)
            story.receive(.event(.init(1, 2, .notReachable, at: 500 + offset)), at: 900)
            story.receive(.event(.init(1, 3, .wifi, at: 895 + offset)), at: 900)
            #expect(try story.node().silence?.cause == .noPath([]))
        }
    }

    @Test func `path usable, broker not reachable: there was no event at all`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 900)
        #expect(try story.node().silence?.cause == .unknown)
        story.receive(.state(.init(1, 10, .wifi, at: 5)), at: 900)
        #expect(try story.node().silence?.cause == .brokerNotReachable)
    }

    @Test func `after a new connection of the viewer, the retained link alone says nothing about the cause`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 900, isRetained: true)
        story.wait(until: 900.1)
        #expect(try story.node().silence?.cause == .unknown)
        story.receive(.state(.init(1, 12, .wifi, at: 895)), at: 900.2, isRetained: true)
        story.wait(until: 900.3)
        for event: EventReport in [.init(1, 11, .notReachable, at: 500), .init(1, 12, .wifi, at: 895)] {
            story.receive(.event(event), at: 900.4)
        }
        #expect(try story.node().silence?.cause == .noPath([]))
    }

    @Test func `a retained state that comes before the retained link counts`() throws {
        var story = silentMachine()
        story.receive(.state(.init(1, 10, .wifi, at: 5)), at: 900, isRetained: true)
        story.receive(.birth(), at: 900, isRetained: true)
        #expect(try story.node().silence?.cause == .brokerNotReachable)
    }

    @Test func `a machine that was lost, connects and is stopped was stopped`() throws {
        var story = silentMachine()
        story.wait(until: 700)
        story.receive(.stopped(), at: 800)
        story.wait(until: 801)
        let node = try story.node()
        #expect(node.presence == .silent)
        #expect(node.silence == .init(start: FleetStory.time(800), end: nil, cause: .stopped))
        story.receive(.birth("s2"), at: 900)
        story.receive(.state(.init(2, 1, .wifi, at: 880)), at: 900)
        story.receive(.event(.init(2, 1, .wifi, at: 880)), at: 900)
        #expect(try story.node().silence?.cause == .stopped)
    }

    @Test func `path usable, broker not reachable: a short outage and another path explain no long silence`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 2_000)
        story.receive(.state(.init(1, 13, .wifi, at: 900)), at: 2_000)
        for event: EventReport in [
            .init(1, 11, .cellular, at: 700), .init(1, 12, .wifi, at: 800), .init(1, 13, .wifi, at: 900),
        ] {
            story.receive(.event(event), at: 2_000)
        }
        #expect(try story.node().silence?.cause == .brokerNotReachable)
    }

    @Test func `an event that the broker lost leaves the cause unknown`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 900)
        story.receive(.state(.init(1, 12, .wifi, at: 700)), at: 900)
        story.receive(.event(.init(1, 12, .wifi, at: 700)), at: 900)
        let node = try story.node()
        #expect(node.silence?.cause == .unknown && node.lost == 1 && node.backlog == 0)
    }

    @Test func `machine off: another boot and another run, without events in between`() throws {
        for boot in ["b2", nil] {
            var story = silentMachine()
            story.receive(.birth("s2", boot: boot), at: 900)
            story.receive(.state(.init(2, 2, .wifi, at: 880)), at: 900)
            #expect(try story.node().silence?.cause == .unknown)
            story.receive(.event(.init(2, 1, .unknown, at: 875)), at: 900)
            story.receive(.event(.init(2, 2, .wifi, at: 880)), at: 900)
            let node = try story.node()
            #expect(node.silence?.cause == .machineOff && node.state == .wifi && node.newest?.run == 2)
        }
    }

    @Test func `another run in the same boot: netwatch was not running`() throws {
        var story = silentMachine()
        story.receive(.birth("s2"), at: 900)
        story.receive(.state(.init(2, 1, .wifi, at: 880)), at: 900)
        story.receive(.event(.init(2, 1, .wifi, at: 880)), at: 900)
        #expect(try story.node().silence?.cause == .notRunning)
    }

    @Test func `a path that was lost before the machine was switched off is the cause`() throws {
        var story = silentMachine()
        story.receive(.birth("s2", boot: "b2"), at: 900)
        story.receive(.state(.init(2, 1, .wifi, at: 880)), at: 900)
        story.receive(.event(.init(1, 11, .notReachable, at: 500, reasons: ["link.down"])), at: 900)
        story.receive(.event(.init(2, 1, .wifi, at: 880)), at: 900)
        #expect(try story.node().silence?.cause == .noPath(["link.down"]))
    }

    @Test func `a suspended machine`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 900)
        let resumed = EventReport(1, 11, .wifi, at: 890, suspension: .seconds(390))
        story.receive(.state(resumed), at: 900)
        story.receive(.event(resumed), at: 900)
        #expect(try story.node().silence?.cause == .suspended)
    }

    @Test func `a forwarder that was stopped is silent at once; another boot afterwards was a shutdown`() throws {
        for (boot, cause) in [("b", SilenceCause.stopped), ("b2", .machineOff)] {
            var story = FleetStory()
            story.receive(.birth(), at: 0)
            story.receive(.state(.init(1, 1, .wifi, at: 0)), at: 0)
            story.receive(.stopped(), at: 10)
            #expect(try story.node().presence == .silent)
            #expect(try story.node().silence?.cause == .stopped)
            let run: UInt64 = boot == "b" ? 1 : 2
            story.receive(.birth("s2", boot: boot), at: 100)
            story.receive(.state(.init(run, 1, .wifi, at: 0)), at: 100)
            story.receive(.event(.init(run, 1, .wifi, at: 0)), at: 100)
            #expect(try story.node().silence?.cause == cause)
        }
    }

    @Test func `what arrives while a machine is silent was published before`() throws {
        var story = silentMachine()
        story.receive(.state(.init(1, 12, .wifi, at: 590)), at: 601)
        story.receive(.event(.init(1, 11, .notReachable, at: 100)), at: 601)
        story.receive(.event(.init(1, 12, .wifi, at: 590)), at: 601)
        story.wait(until: 700)
        story.receive(.birth(), at: 900)
        story.receive(.state(.init(1, 12, .wifi, at: 590)), at: 900)
        #expect(try story.node().silence?.cause == .brokerNotReachable)
    }

    @Test func `a connection that is taken over within the grace time is no silence`() throws {
        var story = silentMachine()
        story.receive(.birth(), at: 602)
        story.wait(until: 700)
        let node = try story.node()
        #expect(node.presence == .online && node.silence == nil)
    }

    @Test func `a will of an earlier connection is outdated`() throws {
        var story = FleetStory()
        story.receive(.birth("new"), at: 0)
        #expect(story.receive(.lost("old"), at: 1) == .outdated)
        story.wait(until: 60)
        #expect(try story.node().presence == .online)
    }

    @Test func `a retained will of a session that was never seen is that of the latest one`() throws {
        var story = FleetStory()
        story.receive(.birth("a"), at: 0)
        #expect(story.receive(.lost("b"), at: 600, isRetained: true) == .new)
        let node = try story.node()
        #expect(node.presence == .silent && node.silence?.start == FleetStory.time(600))
    }

    @Test func `a retained will of a session that was replaced is outdated`() throws {
        var story = FleetStory()
        story.receive(.birth("a"), at: 0)
        story.receive(.birth("b"), at: 300)
        #expect(story.receive(.lost("a"), at: 600, isRetained: true) == .outdated)
        #expect(try story.node().presence == .online)
    }

    @Test func `a will that was outdated is outdated again when it is received as a retained one`() throws {
        var story = FleetStory()
        story.receive(.birth("new"), at: 0)
        story.receive(.lost("old"), at: 1)
        #expect(story.receive(.lost("old"), at: 600, isRetained: true) == .outdated)
        #expect(try story.node().presence == .online)
    }

    @Test func `a retained will says by its expiry when the machine was lost`() throws {
        var story = FleetStory()
        story.receive(.lost(), at: 0, isRetained: true, expiry: FleetMessage.expiry - 3_600)
        let node = try story.node()
        #expect(node.presence == .silent && node.silence?.start == FleetStory.time(-3_600) && node.lastSeen == nil)
    }

    @Test func `a retained will without an expiry has no grace time`() throws {
        var story = FleetStory()
        story.receive(.lost(), at: 0, isRetained: true)
        #expect(try story.node().presence == .silent)
    }

    @Test func `a machine whose retained messages are removed is forgotten`() throws {
        var story = silentMachine()
        story.wait(until: 700)
        #expect(story.board.count == 1)
        story.receive(.removed, at: 701)
        #expect(story.receive(.removed, of: "other", at: 701) == .outdated)
        story.wait(until: 702)
        #expect(story.board.count == 0 && story.model.count == 1)
    }
}
