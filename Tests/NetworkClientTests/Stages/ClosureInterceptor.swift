import NetworkClient

/// An interceptor of a test's closures.
struct ClosureInterceptor: RequestInterceptor {
    var onAdapt: @Sendable (HTTPRequest, RequestAttempt) async throws -> HTTPRequest = { request, _ in request }
    var onRetry: @Sendable (FailedAttempt) async -> RetryDecision? = { _ in nil }

    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        try await onAdapt(request, attempt)
    }

    func retry(_ attempt: FailedAttempt) async -> RetryDecision? { await onRetry(attempt) }

    /// Sets a field.
    static func setting(
        _ name: HTTPField.Name,
        _ value: @escaping @Sendable (HTTPRequest, RequestAttempt) -> String
    )
        -> Self
    {
        .init(onAdapt: { request, attempt in
            var changed = request
            changed.headerFields[name] = value(request, attempt)
            return changed
        })
    }
}

extension HTTPField.Name {
    static let mark = Self("X-Mark") ?? .accept
}
