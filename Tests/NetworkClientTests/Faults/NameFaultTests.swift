import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// The errors of requests whose host name can't be looked up, with the system's own getaddrinfo(3).
@Suite(
    .enabled(if: NameServiceSetup.isPlain, Comment(rawValue: NameServiceSetup.advice)),
    .timeLimit(.minutes(10))
)
struct NameFaultTests {
    /// The system's own timeout for a silent server is a few seconds, which the rest may take on a busy machine.
    private static let patient = "nameserver \(NameServiceSetup.nameServer)\noptions timeout:30 attempts:5\n"

    @Test(
        arguments: [
            (.code(3), .nameNotFound), (.code(0), .nameNotFound), (.code(2), .nameTemporarilyUnresolvable),
            (.silence, .resolveTimedOut),
        ] as [(NameServer.Reply, HTTPError.Code)]
    )
    func `each response of a name server has its error`(reply: NameServer.Reply, code: HTTPError.Code) async throws {
        try await FaultLab.run(resolvConf: Self.patient) { faults in
            let names = try NameServer(in: faults.lab) { _ in reply }
            var configuration = HTTPConfiguration.lasting
            if reply == .silence { configuration.limit(\.resolve, .seconds(3)) }
            let session = try faults.session(configuration)
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.get("http://some-name.test/").response()
            }
            #expect(error?.code == code, "\(error.debugDescription)")
            #expect(error?.processing == .neverSent)
            try await names.questions.wait(for: "the question") { $0.contains("some-name.test") }
            try await faults.end(session)
            names.stop()
        }
    }

    @Test func `no reachable name server`() async throws {
        try await FaultLab.run { faults in
            let session = try faults.session()
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.get("http://some-name.test/").response()
            }
            #expect(error?.code == .nameTemporarilyUnresolvable, "\(error.debugDescription)")
            #expect(error?.processing == .neverSent)
            try await faults.end(session)
        }
    }

    @Test func `two stalled names delay no other name`() async throws {
        try await FaultLab.run(resolvConf: Self.patient) { faults in
            let names = try NameServer(in: faults.lab) { $0.hasPrefix("healthy") ? .address(127, 0, 0, 1) : .silence }
            let server = try ScriptedServer(in: faults.lab, always: [.forever([.readRequest, .response("here")])])
            let session = try faults.session()
            let stalled = ["stalled-a", "stalled-b"].map { session.get("http://\($0).test/") }
            try await names.questions.wait(for: "both questions") { questions in
                ["stalled-a.test", "stalled-b.test"].allSatisfy(questions.contains)
            }
            for _ in 0..<3 {
                let text = try await session.get("http://healthy.test:\(server.port)/").string()
                #expect(text == "here")
            }
            #expect(try await session.get("http://localhost:\(server.port)/").string() == "here")
            // They are cancelled immediately, although the lookups can't be interrupted.
            #expect(stalled.allSatisfy { !$0.isFinished })
            for request in stalled {
                request.cancel()
                let error = await #expect(throws: HTTPError.self) { try await request.response() }
                #expect(error?.code == .cancelled && error?.processing == .neverSent)
            }
            session.invalidate()
            try await server.waitForEnds(2)
            names.stop()
            try await server.stop()
        }
    }
}
