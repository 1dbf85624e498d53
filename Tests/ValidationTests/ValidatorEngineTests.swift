import Glibc
import HTTPLab
import NIOCore
import NIOPosix
import NetworkClient
import PathProbing
import Testing
import ValidationCore

@testable import Validation

/// The engine of a validator, on an event loop of its own that the test stops.
@Suite(.timeLimit(.minutes(5))) struct ValidatorEngineTests {
    @Test func `an answer that arrived while the process was stopped is not taken for silence`() async throws {
        let server = try AnsweringServer { _ in [.hold] }
        let endpoint = try #require(ValidationEndpoint.http(server.url))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        // The probe itself does not end: the test gives its answer.
        let prober = try EndpointProber(.init(endpoints: [endpoint], timeout: .seconds(600)), .init(), .direct, loop)
        let configuration = ValidationConfiguration(endpoints: [endpoint], timeout: .milliseconds(100))
        let engine = ValidatorEngine(configuration, prober, loop, nil)
        let reports = engine.makeReports()
        loop.execute {
            engine.follow(LoopbackPath())
            loop.execute {
                usleep(500_000)
                // The loop takes its next task, the timer, and the task after that.
                loop.execute {}
                engine.receive(.answered(round: 1, position: 0, .response(.init(status: 204))))
            }
        }
        let report = await reports.first { $0.verdict != .notChecked }
        #expect(report?.verdict == .validated)
        engine.stop()
        try await group.shutdownGracefully()
    }
}
