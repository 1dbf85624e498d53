import Glibc
import HTTPLab
import NetworkClient
import Testing

@testable import ResourceLoader

/// Loads that are shared, limited, cancelled and kept in memory.
@Suite(.timeLimit(.minutes(5)))
struct ResourceLoaderTests {
    private struct Undecodable: Error {}

    /// Servers that hold each response until they are opened.
    private final class HeldServer: Transport {
        let requests = Observed<[String]>([])
        let isOpen = Observed(false)
        let cancelled = Observed(0)

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            requests.update { $0.append(request.head.path ?? "") }
            do {
                while !isOpen.value { try await Task.sleep(for: .milliseconds(2)) }
            } catch {
                cancelled.update { $0 += 1 }
                throw error
            }
            let isMissing = request.head.path == "/missing"
            return .init(head: .init(status: isMissing ? .notFound : .ok), body: Array((request.head.path ?? "").utf8))
        }
    }

    private let server = HeldServer()

    private func loader(
        _ options: ResourceLoaderOptions = .init(purgesUnderMemoryPressure: false)
    ) throws -> ResourceLoader<String> {
        let session = try HTTPSession(baseURL: "https://example.com/", configuration: .init(transport: server))
        return ResourceLoader(session: session, options: options) { response in
            guard response.bytes != Array("/bad".utf8) else { throw Undecodable() }
            return String(decoding: response.bytes, as: UTF8.self)
        }
    }

    private func wait(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func `a thousand callers are served by one request`() async throws {
        let loader = try loader()
        let results = Observed<[String]>([])
        for _ in 1...1_000 {
            loader.load("a") { result in results.update { $0.append((try? result.get()) ?? "") } }
        }
        server.isOpen.update { $0 = true }
        try await wait { results.value.count == 1_000 }
        #expect(Set(results.value) == ["/a"] && server.requests.value == ["/a"])
        // From memory, without another request.
        #expect(try await loader.value(for: "a") == "/a" && loader.cachedValue(for: "a") == "/a")
        #expect(server.requests.value.count == 1 && loader.cachedSize == 2)
    }

    @Test func `cancelling 999 of a thousand leaves the last one served`() async throws {
        let loader = try loader()
        let results = Observed<[Result<String, HTTPError>]>([])
        let receipts = (1...1_000).map { _ in loader.load("a") { result in results.update { $0.append(result) } } }
        try await wait { server.requests.value.count == 1 }
        for receipt in receipts.dropLast() { receipt.cancel() }
        receipts[0].cancel()
        #expect(results.value.count == 999)
        server.isOpen.update { $0 = true }
        try await wait { results.value.count == 1_000 }
        #expect(try results.value[999].get() == "/a")
        #expect(
            results.value.dropLast().allSatisfy {
                if case .failure(let error) = $0 { error.code == .cancelled } else { false }
            }
        )
        #expect(server.requests.value == ["/a"] && server.cancelled.value == 0)
    }

    @Test func `the last caller that cancels cancels the request`() async throws {
        let loader = try loader()
        let results = Observed<[Result<String, HTTPError>]>([])
        // All of them wait before the first is cancelled.
        let receipts = (1...5).map { _ in loader.load("a") { result in results.update { $0.append(result) } } }
        try await wait { server.requests.value.count == 1 }
        for receipt in receipts { receipt.cancel() }
        try await wait { results.value.count == 5 }
        for result in results.value {
            let error = #expect(throws: HTTPError.self) { try result.get() }
            #expect(error?.code == .cancelled)
        }
        try await wait { server.cancelled.value == 1 }
        #expect(server.requests.value == ["/a"])
        #expect(loader.cachedValue(for: "a") == nil)
    }

    @Test(arguments: [ResourceLoaderOptions.Order.firstInFirstOut, .lastInFirstOut])
    func `loads start within the limit, by priority and order`(order: ResourceLoaderOptions.Order) async throws {
        let options = ResourceLoaderOptions(maximumActiveLoads: 1, order: order, purgesUnderMemoryPressure: false)
        let loader = try loader(options)
        let ended = Observed(0)
        let loads: [(String, RequestPriority)] = [
            ("a", .low), ("b", .normal), ("c", .normal), ("d", .high), ("e", .low),
        ]
        for (name, priority) in loads { loader.load(name, priority: priority) { _ in ended.update { $0 += 1 } } }
        try await wait { !server.requests.value.isEmpty }
        #expect(server.requests.value == ["/a"])
        server.isOpen.update { $0 = true }
        try await wait { ended.value == 5 }
        #expect(
            server.requests.value
                == (order == .firstInFirstOut ? ["/a", "/d", "/b", "/c", "/e"] : ["/a", "/d", "/c", "/b", "/e"])
        )
    }

    @Test func `errors are passed on, and not kept`() async throws {
        let loader = try loader()
        server.isOpen.update { $0 = true }
        for (name, code) in [("missing", HTTPError.Code.unacceptableStatus), ("bad", .responseSerializationFailed)] {
            let error = await #expect(throws: HTTPError.self) { try await loader.value(for: name) }
            #expect(error?.code == code)
        }
        let bad = await #expect(throws: HTTPError.self) { try await loader.value(for: "bad") }
        #expect(bad?.cause is Undecodable && server.requests.value.count == 3)
    }

    @Test func `memory has a limit, and other fields are another resource`() async throws {
        let loader = try loader(.init(memoryLimit: 9, preferredMemorySize: 6, purgesUnderMemoryPressure: false))
        server.isOpen.update { $0 = true }
        for name in ["aa", "bb", "cc", "dd"] { _ = try await loader.value(for: name) }
        #expect(
            loader.cachedSize == 6 && loader.cachedValue(for: "bb") == nil && loader.cachedValue(for: "dd") == "/dd"
        )
        _ = try await loader.value(for: "dd", headers: [.accept: "image/webp"])
        #expect(server.requests.value.count == 5)
        loader.removeCachedValue(for: "dd")
        #expect(loader.cachedValue(for: "dd") == nil)
        loader.removeAllCachedValues()
        #expect(loader.cachedSize == 0)
        #expect(loader.memoryPressureFailure == "it is switched off in the options")
    }

    private func remove(_ all: Bool, from loader: ResourceLoader<String>) {
        if all { loader.removeAllCachedValues() } else { loader.removeCachedValue(for: "a") }
    }

    @Test(arguments: [false, true])
    func `a load that began before a removal stores no value`(all: Bool) async throws {
        let loader = try loader()
        let results = Observed<[String]>([])
        loader.load("a") { result in results.update { $0.append((try? result.get()) ?? "") } }
        try await wait { server.requests.value.count == 1 }
        remove(all, from: loader)
        server.isOpen.update { $0 = true }
        try await wait { results.value == ["/a"] }
        #expect(loader.cachedValue(for: "a") == nil && loader.cachedSize == 0)
    }

    @Test(arguments: [false, true])
    func `callers after a removal do not join a load that began before it`(all: Bool) async throws {
        let loader = try loader()
        let results = Observed<[String]>([])
        loader.load("a") { result in results.update { $0.append((try? result.get()) ?? "") } }
        try await wait { server.requests.value.count == 1 }
        remove(all, from: loader)
        for _ in 1...2 {
            loader.load("a") { result in results.update { $0.append((try? result.get()) ?? "") } }
        }
        server.isOpen.update { $0 = true }
        try await wait { results.value.count == 3 }
        #expect(results.value == ["/a", "/a", "/a"] && server.requests.value == ["/a", "/a"])
        #expect(loader.cachedValue(for: "a") == "/a")
    }

    @Test func `memory pressure is detected, and a kernel without it is an explained failure`() async throws {
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        // Urgent data reports POLLPRI, as a trigger does.
        let pressure = MemoryPressure(pair[1], failure: nil)
        let count = Observed(0)
        pressure.start { count.update { $0 += 1 } }
        var byte: UInt8 = 1
        #expect(send(pair[0], &byte, 1, Int32(MSG_OOB)) == 1)
        try await wait { count.value > 0 }
        pressure.stop()
        let missing = MemoryPressure(path: "/nonexistent/pressure")
        #expect(missing.failure == "/nonexistent/pressure can't be opened: No such file or directory")
        missing.start {}
        missing.stop()
    }

    @Test func `an indicator follows the requests of a session`() async throws {
        let states = Observed<[ActivityIndicator.State]>([])
        let indicator = ActivityIndicator(startDelay: .zero, endDelay: .milliseconds(5)) { state in
            states.update { $0.append(state) }
        }
        let configuration = HTTPConfiguration(eventMonitors: [indicator], transport: server)
        let session = try HTTPSession(baseURL: "https://example.com/", configuration: configuration)
        let requests = (1...3).map { session.get("\($0)") }
        try await wait { indicator.state == .active }
        server.isOpen.update { $0 = true }
        for request in requests { _ = try await request.response() }
        try await wait { indicator.state == .notActive }
        try await wait { states.value.last == .notActive }
        #expect(states.value.first == .active && states.value.contains(.delayingEnd))
    }

    @Test func `an indicator follows the requests of several sessions`() throws {
        let indicator = ActivityIndicator(startDelay: .zero, endDelay: .zero) { _ in }
        let requests = try (1...2).map { _ in
            let session = try HTTPSession(baseURL: "https://example.com/", configuration: .init(transport: server))
            return session.get("", options: .init(startsAtOnce: false))
        }
        for request in requests { indicator.request(request, did: .sent) }
        indicator.request(requests[1], did: .paused)
        #expect(indicator.state == .active)
        indicator.request(requests[0], did: .paused)
        #expect(indicator.state == .notActive)
        for request in requests { request.cancel() }
    }

    @Test func `after a pause, a request is active only if it was before`() throws {
        let indicator = ActivityIndicator(startDelay: .zero, endDelay: .zero) { _ in }
        let session = try HTTPSession(baseURL: "https://example.com/", configuration: .init(transport: server))
        let request = session.get("", options: .init(startsAtOnce: false))
        let lost = HTTPError(.connectionLost, processing: .neverSent, reason: "the connection was lost")
        indicator.request(request, did: .retrying(in: .seconds(9), because: .neverSent, after: lost))
        for event in [RequestEvent.paused, .resumed] {
            indicator.request(request, did: event)
            #expect(indicator.state == .notActive)
        }
        indicator.request(request, did: .sent)
        #expect(indicator.state == .active)
        indicator.request(request, did: .paused)
        #expect(indicator.state == .notActive)
        indicator.request(request, did: .resumed)
        #expect(indicator.state == .active)
        request.cancel()
    }

    @Test func `an indicator is visible for a while after the end`() {
        let indicator = ActivityIndicator(startDelay: .zero, endDelay: .seconds(300)) { _ in }
        indicator.begin()
        #expect(indicator.state.isVisible)
        indicator.end()
        #expect(indicator.state == .delayingEnd)
    }
}
