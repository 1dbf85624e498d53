import Dispatch
import Foundation
import Glibc
import HTTPLab
import NIOCore
import NetworkClient
import NetworkLab
import Testing

/// Processes with a low limit on descriptors.
@Suite(.timeLimit(.minutes(5)))
struct DescriptorShortageTests {
    @Test(arguments: ["keep-alive", "close"])
    func `two hundred requests share the connections that 64 descriptors allow`(persistence: String) async throws {
        let steps: [ServerStep] = [.readRequest, .response("here", headers: ["Connection: \(persistence)"])]
        let server = try ScriptedServer(always: persistence == "close" ? steps : [.forever(steps)])
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            let session = try HTTPSession(
                baseURL: "http://127.0.0.1:\(port)/",
                configuration: .init(timeouts: .lasting, maximumConnectionsPerHost: 200)
            )
            limitDescriptors(to: 64)
            let requests = (0..<200).map { _ in session.get("x") }
            for request in requests { #expect(try await request.string() == "here") }
        }
        #expect(server.connections.count > 1)
    }

    @Test func `a session opens the timers of all clocks when it is made`() async {
        await #expect(processExitsWith: .success) {
            let session = try HTTPSession(baseURL: "http://127.0.0.1/", configuration: .lasting)
            // Three of libdispatch, and one of each event loop.
            let count = 3 + NIOSingletons.groupLoopCountSuggestion
            let deadline = ContinuousClock.now + .seconds(60)
            // Without another timer, which would open its own.
            while try timerCount() < count, ContinuousClock.now < deadline { usleep(1000) }
            #expect(try timerCount() == count)
            withExtendedLifetime(session) {}
        }
    }

    @Test func `requests by name wait for connections too`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            let session = try HTTPSession(
                baseURL: "http://localhost:\(port)/",
                configuration: .init(timeouts: .lasting, maximumConnectionsPerHost: 200)
            )
            limitDescriptors(to: 64)
            let requests = (0..<200).map { _ in session.get("x") }
            for request in requests { #expect(try await request.string() == "here") }
        }
    }

    @Test func `a request that waits for a descriptor gets one that becomes free elsewhere`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .await(latch), .response("first")] : [.readRequest, .response("second")]
        }
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(port)/", configuration: .lasting)
            let first = session.get("x", options: .init(startsAtOnce: false))
            let events = first.events
            first.resume()
            for await event in events { if case .sent = event { break } }
            let taken = takeDescriptors(leaving: 3)
            let second = session.get("x")
            // Three are enough for the first connection to another host, and too few for a second one to this host.
            await #expect(throws: HTTPError.self) { try await session.get("http://127.0.0.2:9/").response() }
            for descriptor in taken { close(descriptor) }
            #expect(try await second.string() == "second")
            first.cancel()
        }
        latch.open()
    }

    @Test func `without a connection to wait for, a request fails`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(port)/", configuration: .lasting)
            let taken = takeDescriptors(leaving: 1)
            let error = await #expect(throws: HTTPError.self) { try await session.get("x").response() }
            #expect(error?.code == .tooManyDescriptors)
            #expect(error?.errno == EMFILE)
            #expect(error?.processing == .neverSent)
            for descriptor in taken { close(descriptor) }
            #expect(try await session.get("x").string() == "here")
        }
    }
}

/// The number of open descriptors of timers.
private func timerCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == "anon_inode:[timerfd]"
    }
}

/// Limits the number of the process's descriptors.
private func limitDescriptors(to count: UInt) {
    var limit = rlimit(rlim_cur: count, rlim_max: count)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// Uses up all descriptors but a few: with none, libdispatch aborts the process when it inspects its threads.
private func takeDescriptors(leaving count: Int) -> [Int32] {
    limitDescriptors(to: 256)
    var taken: [Int32] = []
    while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 { taken.append(descriptor) }
    for descriptor in taken.suffix(count) { close(descriptor) }
    return taken.dropLast(count)
}
