public import NetworkClient

/// A transport that plays a script: it expects requests, responds to each as the script says, and records them.
///
/// ```swift
/// let transport = ScriptedTransport()
/// transport.expect(.get, "/v1/users/7", .json(#"{"name": "Ann"}"#))
/// let session = try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(transport: transport))
/// let user = try await session.get("users/7").decoded(User.self)
/// try transport.verify()
/// ```
///
/// A request meets the first expectation that it matches and that is not used up, in any order. A request that meets
/// none fails with `HTTPError.Code.invalidConfiguration`, and is not retried. All members can be used from any thread.
public final class ScriptedTransport: Transport {
    private struct State: Sendable {
        var expectations: [Expectation] = []
        var requests: [TransportRequest] = []
        var unexpected: [String] = []
    }

    private struct Expectation: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let accepts: @Sendable (TransportRequest) -> Bool
        var responses: ArraySlice<ScriptedResponse>
        /// Whether the last response is used for all further requests.
        let repeats: Bool

        var isUsedUp: Bool { responses.isEmpty }
        var isOpen: Bool { repeats ? responses.count > 1 : !responses.isEmpty }

        func matches(_ request: TransportRequest) -> Bool {
            !isUsedUp && request.head.method == method && (request.head.path ?? "/") == path && accepts(request)
        }

        mutating func next() -> ScriptedResponse? {
            repeats && responses.count == 1 ? responses.first : responses.popFirst()
        }
    }

    private let state = WatchedValue(State())

    /// Creates a transport with an empty script.
    public init() {}

    /// Adds a request to the script, and the responses to it.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path with its query, percent-encoded, as in `HTTPRequest.path`.
    ///   - responses: The responses, one for each time that the request is received; one empty response with status 200
    ///     if there are none.
    ///   - repeats: Whether the last response is repeated for all further requests; they need not be received.
    ///   - matches: Returns whether a request with this method and path is the expected one, for example by its body.
    public func expect(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ responses: ScriptedResponse...,
        repeats: Bool = false,
        where matches: @escaping @Sendable (TransportRequest) -> Bool = { _ in true }
    ) {
        let expectation = Expectation(
            method: method,
            path: path,
            accepts: matches,
            responses: responses.isEmpty ? [.status(.ok)] : responses[...],
            repeats: repeats
        )
        state.change { $0.expectations.append(expectation) }
    }

    /// All requests that were received, in order: each attempt, with the fields as they would be sent.
    public var requests: [TransportRequest] { state.value.requests }

    /// Waits until a number of requests was received, and returns them.
    ///
    /// - Parameter count: The number.
    /// - Returns: All requests that were received until then, at least that many.
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    public func requests(count: Int) async throws -> [TransportRequest] {
        try await state.wait { $0.requests.count >= count }.requests
    }

    /// Checks that all expected requests were received, and no others.
    ///
    /// - Throws: ``Mismatch`` with all that differed.
    public func verify() throws(Mismatch) {
        let state = state.value
        let missing = state.expectations.filter(\.isOpen).map { expectation in
            let count = expectation.responses.count - (expectation.repeats ? 1 : 0)
            return "\(expectation.method) \(expectation.path)\(count > 1 ? " (\(count) times)" : "")"
        }
        guard !missing.isEmpty || !state.unexpected.isEmpty else { return }
        throw .init(missing: missing, unexpected: state.unexpected)
    }

    /// The difference between a script and the requests that were received.
    public struct Mismatch: Error, Sendable, Hashable, CustomStringConvertible {
        /// The expected requests that were not received: method and path.
        public let missing: [String]
        /// The requests that were received and not expected: method and path.
        public let unexpected: [String]

        /// All differences, one per line.
        public var description: String {
            let lines = missing.map { "expected and not received: \($0)" } + unexpected.map { "not expected: \($0)" }
            return lines.joined(separator: "\n")
        }
    }

    /// Responds as the script says.
    ///
    /// - Throws: The scripted error; `HTTPError.Code.invalidConfiguration` for a request that is not expected.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = state.change { state -> ScriptedResponse? in
            defer { state.requests.append(request) }
            guard let index = state.expectations.firstIndex(where: { $0.matches(request) }) else {
                state.unexpected.append("\(request.head.method) \(request.head.path ?? "/")")
                return nil
            }
            return state.expectations[index].next()
        }
        guard let response else { throw Self.unexpected(request, state.value.expectations) }
        return try await response.respond(request)
    }

    private static func unexpected(_ request: TransportRequest, _ expectations: [Expectation]) -> HTTPError {
        let open = expectations.filter { !$0.isUsedUp }.map { "\($0.method) \($0.path)" }
        let reason = """
            the script has no response to \(request.head.method) \(request.head.path ?? "/"): \
            \(open.isEmpty ? "it expects no further request" : "it expects \(open.joined(separator: ", "))")
            """
        return .init(.invalidConfiguration, processing: .answered, reason: reason)
    }
}
