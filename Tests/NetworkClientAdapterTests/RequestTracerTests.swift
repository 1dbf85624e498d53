import HTTPLab
import InMemoryTracing
import NetworkClient
import NetworkClientObservability
import Testing
import Tracing

/// Spans in memory.
@Suite(.timeLimit(.minutes(5)))
struct RequestTracerTests {
    private let server: AnsweringServer
    private let memory = InMemoryTracer()
    private let session: HTTPSession

    init() throws {
        server = try AdapterLab.server()
        session = try AdapterLab.session(server) { [memory] in $0.trace(with: RequestTracer(memory)) }
    }

    /// Returns the spans in the order in which they began, once none is active.
    private func spans() async throws -> [FinishedInMemorySpan] {
        await session.shutdown(within: .seconds(60))
        #expect(memory.activeSpans.isEmpty)
        return memory.finishedSpans
    }

    @Test func `each attempt is a span in the trace of the task that makes the request`() async throws {
        let parent = memory.startSpan("parent", context: .topLevel)
        let texts = try await InstrumentationContext.withValue(parent.context) {
            [
                try await session.get("busy?secret=1").string(),
                try await session.get("redirect").string(),
            ]
        }
        #expect(texts == ["yes", "end"])
        parent.end()
        let spans = try await spans().dropLast()
        #expect(spans.map(\.operationName) == ["GET", "GET", "GET", "GET"])
        #expect(spans.allSatisfy { $0.traceID == parent.traceID && $0.parentSpanID == parent.spanID })
        #expect(spans.allSatisfy { $0.kind == .client })
        let statuses = spans.map { $0.attributes.get("http.response.status_code") }
        #expect(statuses == [503, 200, 302, 200].map { SpanAttribute.int64($0) })
        let url = spans.first?.attributes.get("url.full")
        #expect(url == .string("\(server.url)/busy"))
        #expect(spans.map { $0.status?.code == .error } == [true, false, false, false])
        let resends = spans.map { $0.attributes.get("http.request.resend_count") }
        #expect(resends == [nil, .int64(1), nil, .int64(1)])
        #expect(spans.allSatisfy { $0.attributes.get("server.port") == .int64(Int64(server.port)) })
        let ids = server.requests.value.map { $0[InMemoryTracer.spanIDKey] }
        #expect(ids == spans.map(\.spanID))
        #expect(server.requests.value.allSatisfy { $0[InMemoryTracer.traceIDKey] == parent.traceID })
    }

    @Test func `an error ends the span, and is recorded`() async throws {
        let request = session.get("close", options: .init(retry: .never))
        await #expect(throws: HTTPError.self) { try await request.response() }
        let spans = try await spans()
        #expect(spans.count == 1)
        #expect(spans.first?.errors.count == 1)
        #expect(spans.first?.attributes.get("error.type") == .string("connectionLost"))
        #expect(spans.first?.status?.code == .error)
    }

    @Test func `concurrent requests of different tasks have spans in their traces`() async throws {
        let parents = (0..<20).map { memory.startSpan("\($0)", context: .topLevel) }
        try await withThrowingTaskGroup { group in
            for parent in parents {
                group.addTask { [session] in
                    try await InstrumentationContext.withValue(parent.context) {
                        _ = try await session.get(parent.operationName).string()
                    }
                }
            }
            try await group.waitForAll()
        }
        for parent in parents { parent.end() }
        let spans = try await spans().filter { $0.kind == .client }
        #expect(Set(spans.map(\.traceID)) == Set(parents.map(\.traceID)))
        for parent in parents {
            let span = try #require(spans.first { $0.traceID == parent.traceID })
            #expect(span.attributes.get("url.full") == .string("\(server.url)/\(parent.operationName)"))
        }
    }

    @Test func `the fields of the bootstrapped instrument are sent`() async throws {
        let session = try AdapterLab.session(server) { $0.trace(with: RequestTracer()) }
        InstrumentationSystem.bootstrap(TraceParent())
        _ = try await session.get("").string()
        #expect(server.requests.value.map { $0["traceparent"] } == [TraceParent.value])
        await session.shutdown(within: .seconds(60))
    }
}

/// An instrument that writes a `traceparent` (W3C Trace Context, 3.2).
private struct TraceParent: Instrument {
    static let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        injector.inject(Self.value, forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout InstrumentationContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {}
}
