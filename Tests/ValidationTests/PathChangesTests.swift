import HTTPLab
import NetworkClient
import ReachabilityCore
import Testing
import Validation

/// The sequence of paths with their verdicts.
@Suite(.timeLimit(.minutes(5))) struct PathChangesTests {
    private static func validator(_ url: String, _ path: LoopbackPath) throws -> PathValidator {
        let endpoints = [ValidationEndpoint.http(url)].compactMap(\.self)
        let configuration = ValidationConfiguration(endpoints: endpoints, timeout: .seconds(600))
        return try PathValidator(configuration, connectivity: path, proxy: .direct, receivesRouterEvents: false)
    }

    @Test func `a verdict comes with the path that it is about, and a path with no verdict of another`() async throws {
        let server = try AnsweringServer { _ in [.response(status: "204 No Content")] }
        let path = LoopbackPath()
        let validator = try Self.validator(server.url, path)
        var changes = validator.changes.makeAsyncIterator()
        var seen: [ValidationChange] = []
        while seen.last?.validation.verdict != .validated { seen.append(try #require(await changes.next())) }
        // A metered path is not probed.
        path.change(isMetered: true)
        while seen.last?.path.isExpensive != true { seen.append(try #require(await changes.next())) }
        #expect(seen.last?.validation.verdict == .notChecked)
        path.change(isMetered: false)
        while seen.last?.validation.verdict != .validated { seen.append(try #require(await changes.next())) }
        for change in seen { #expect(change.validation.path == ValidationPath(change.path)) }
        #expect(server.requests.value.count == 2)
    }

    @Test func `each sequence begins with what is current`() async throws {
        let server = try AnsweringServer { _ in [.response(status: "204 No Content")] }
        let validator = try Self.validator(server.url, LoopbackPath())
        _ = await validator.verdicts.first { $0.verdict == .validated }
        for _ in 0..<2 {
            let first = await validator.changes.first { _ in true }
            #expect(first?.validation.verdict == .validated)
            #expect(first?.path.interface?.name == "lo")
        }
    }

    @Test func `the sequence ends with the validator`() async throws {
        let changes: AsyncStream<ValidationChange>
        do {
            let validator = try Self.validator("http://127.0.0.1:1/", LoopbackPath())
            changes = validator.changes
        }
        for await change in changes { #expect(change.path.interface?.name == "lo") }
    }
}
