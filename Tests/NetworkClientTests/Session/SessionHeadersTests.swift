import HTTPLab
import Testing

@testable import NetworkClient

/// Fields that change while a session is used.
@Suite(.timeLimit(.minutes(5)))
struct SessionHeadersTests {
    private struct Refusal: Error {}

    private let server: AnsweringServer
    private let session: HTTPSession

    init() throws {
        server = try AnsweringServer { _ in [.response("x")] }
        var configuration = HTTPConfiguration.lasting
        configuration.headers = [.accept: "text/plain", .mark: "old"]
        session = try HTTPSession(baseURL: server.url, configuration: configuration)
    }

    private func values(_ name: String) -> [String?] { server.requests.value.map { $0[name] } }

    @Test func `later requests have the changed fields, earlier ones and their copies the previous ones`() async throws
    {
        let early = session.get("early", options: .init(startsAtOnce: false))
        session.updateHeaders { $0[.authorization] = "Bearer t" }
        early.resume()
        _ = try await early.string()
        _ = try await session.get("a").string()
        _ = try await session.post("b", parameters: ["c": 1]).string()
        session.updateHeaders { $0[.authorization] = nil }
        _ = try await session.get("d").string()
        #expect(values("Authorization") == [nil, "Bearer t", "Bearer t", nil])
        #expect(values("X-Mark") == ["old", "old", "old", "old"])
    }

    @Test func `default values fill in for removed fields, and a request's own fields replace the changed ones`()
        async throws
    {
        session.updateHeaders { fields in
            fields[.userAgent] = "robot"
            fields[.mark] = "new"
        }
        #expect(session.headers[.userAgent] == "robot")
        _ = try await session.get("a", headers: [.mark: "own"]).string()
        session.updateHeaders { $0[.userAgent] = nil }
        _ = try await session.get("b").string()
        #expect(values("X-Mark") == ["own", "new"])
        #expect(values("User-Agent").first == "robot")
        #expect(values("User-Agent").last??.hasSuffix(" netwatch (Linux)") == true)
        #expect(session.headers == [.accept: "text/plain", .mark: "new"])
        #expect(session.configuration.headers[.mark] == "old")
    }

    @Test func `a change that fails changes nothing`() throws {
        #expect(throws: Refusal.self) {
            try session.updateHeaders { fields throws(Refusal) in
                fields[.mark] = "new"
                throw Refusal()
            }
        }
        #expect(session.headers[.mark] == "old")
    }

    @Test func `concurrent changes are all made`() async {
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { [session] in session.updateHeaders { $0[.mark, default: ""] += "x" } }
            }
        }
        #expect(session.headers[.mark] == "old" + String(repeating: "x", count: 100))
    }

    @Test func `a change to the encoding of parts is respected by range requests`() async throws {
        session.updateHeaders { $0[.acceptEncoding] = "br" }
        _ = try await session.get("a", headers: [.range: "bytes=0-1"]).string()
        #expect(values("Accept-Encoding") == ["br"])
    }
}

extension HTTPFields {
    fileprivate subscript(name: HTTPField.Name, default value: String) -> String {
        get { self[name] ?? value }
        set { self[name] = newValue }
    }
}
