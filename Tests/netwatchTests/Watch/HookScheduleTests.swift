import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct HookScheduleTests {
    private func at(_ seconds: Int64) -> Instant { .init(nanoseconds: seconds * 1_000_000_000) }

    @Test func `hooks never overlap, and the newest state is not lost`() {
        var schedule = HookSchedule(limit: .seconds(30))
        #expect(schedule.isIdle && schedule.deadline == nil)
        #expect(schedule.post() == .start)
        schedule.noteStart(at: at(0))
        #expect(schedule.post() == .nothing)
        #expect(schedule.post() == .nothing)
        #expect(schedule.noteEnd() == .start)
        schedule.noteStart(at: at(1))
        #expect(schedule.noteEnd() == .nothing)
        #expect(schedule.isIdle)
    }

    @Test func `a hook that hangs is terminated, then killed`() {
        var schedule = HookSchedule(limit: .seconds(30))
        #expect(schedule.post() == .start)
        schedule.noteStart(at: at(0))
        #expect(schedule.deadline == at(30))
        #expect(schedule.tick(at: at(29)) == .nothing)
        #expect(!schedule.wasAsked)
        #expect(schedule.tick(at: at(30)) == .terminate)
        #expect(schedule.wasAsked)
        #expect(schedule.deadline == at(35))
        #expect(schedule.tick(at: at(34)) == .nothing)
        #expect(schedule.tick(at: at(35)) == .kill)
        #expect(schedule.deadline == nil)
        #expect(!schedule.isIdle)
        #expect(schedule.noteEnd() == .nothing)
        #expect(schedule.isIdle && !schedule.wasAsked)
    }

    @Test func `a hook that cannot be started is retried`() {
        var schedule = HookSchedule(limit: .seconds(30))
        #expect(schedule.post() == .start)
        schedule.noteFailure(at: at(0))
        #expect(schedule.isIdle && schedule.deadline == at(1))
        #expect(schedule.post() == .nothing)
        #expect(schedule.tick(at: .init(nanoseconds: 999_999_999)) == .nothing)
        #expect(schedule.tick(at: at(1)) == .start)
        schedule.noteFailure(at: at(1))
        schedule.close()
        #expect(schedule.deadline == nil && schedule.isIdle)
    }

    @Test func `the first hook that can be started receives the newest state`() throws {
        var told: [[ReachabilityStatus?]] = []
        var failures = 2
        var runner = HookRunner(.init(command: "true", bytes: Array("true".utf8), limit: .seconds(60))) {
            (hook, change, before) throws(SystemError) in
            guard failures == 0 else {
                failures -= 1
                throw SystemError(code: EAGAIN)
            }
            told.append([change.0.change.status, before])
            let input = ChangeFormat.json.line(change.0, at: change.1)
            return try .start(hook.bytes, input: input, environment: [], mask: sigset_t())
        }
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        runner.post((.init(change: Samples.first), time))
        #expect(told.isEmpty && runner.isIdle)
        runner.post((.init(change: Samples.lost), time))
        runner.tick(at: try #require(runner.deadline))
        #expect(told.isEmpty)
        runner.tick(at: try #require(runner.deadline))
        #expect(told == [[.notReachable, nil]] && !runner.isIdle)
        while !runner.isIdle {
            runner.reap()
            Polling.pause()
        }
        #expect(runner.deadline == nil)
    }

    @Test func `at the end a running hook keeps its time limit, and no other is started`() {
        var schedule = HookSchedule(limit: .seconds(30))
        #expect(schedule.post() == .start)
        schedule.noteStart(at: at(0))
        #expect(schedule.post() == .nothing)
        schedule.close()
        #expect(schedule.deadline == at(30))
        #expect(schedule.endNow(at: at(1)) == .terminate)
        #expect(schedule.endNow(at: at(2)) == .nothing)
        #expect(schedule.deadline == at(6))
        #expect(schedule.noteEnd() == .nothing)
        #expect(schedule.post() == .nothing)
    }
}
