public import NetworkClient

/// The reaction of a ``ScriptedTransport`` to a request: it responds, or fails.
public struct ScriptedResponse: Sendable {
    typealias Respond = @Sendable (TransportRequest) async throws -> TransportResponse

    let respond: Respond

    /// The response that a closure makes for the request.
    ///
    /// - Parameter body: Returns the response, or throws the error of the attempt.
    /// - Returns: The response.
    public static func custom(
        _ body: @escaping @Sendable (TransportRequest) async throws -> TransportResponse
    ) -> Self {
        .init(respond: body)
    }

    /// A status, with a body of bytes.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The body.
    /// - Returns: The response.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: [UInt8] = []
    ) -> Self {
        .custom { _ in .init(head: .init(status: status, headerFields: headers), body: body) }
    }

    /// Text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - status: The status.
    ///   - headers: Header fields, which replace `Content-Type: text/plain; charset=utf-8` if they contain it.
    /// - Returns: The response.
    public static func text(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        .status(status, headers: headers.with(type: "text/plain; charset=utf-8"), body: Array(text.utf8))
    }

    /// JSON, as text.
    ///
    /// - Parameters:
    ///   - text: The text, which is sent as it is.
    ///   - status: The status.
    ///   - headers: Header fields, which replace `Content-Type: application/json` if they contain it.
    /// - Returns: The response.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        .status(status, headers: headers.with(type: "application/json"), body: Array(text.utf8))
    }

    /// A body that arrives in parts, and may break off.
    ///
    /// A part is sent when the previous one was taken: a stream that is not read stops it.
    ///
    /// - Parameters:
    ///   - parts: The parts of the body.
    ///   - status: The status.
    ///   - headers: The header fields. `Content-Length` is not added.
    ///   - interval: The delay before each part.
    ///   - failure: The error that ends the body after its last part; nil for a complete body.
    /// - Returns: The response.
    public static func parts(
        _ parts: [[UInt8]],
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        interval: Duration = .zero,
        failure: HTTPError? = nil
    ) -> Self {
        let body = ScriptedParts(parts: parts, interval: interval, failure: failure)
        return .custom { _ in .init(head: .init(status: status, headerFields: headers), parts: body) }
    }

    /// A failure in place of a response.
    ///
    /// - Parameters:
    ///   - code: The kind of failure, such as `connectionLost` or `networkUnreachable`.
    ///   - processing: Whether the server may have processed the request, which decides on retries.
    /// - Returns: The failure.
    public static func failure(_ code: HTTPError.Code, _ processing: Processing) -> Self {
        .custom { _ in throw HTTPError(code, processing: processing, reason: "the script says \(code)") }
    }

    /// The same response after a delay.
    ///
    /// - Parameter delay: The delay, on the continuous clock. For a test that does not depend on time, use
    ///   ``held(until:)``.
    /// - Returns: The delayed response.
    public func delayed(by delay: Duration) -> Self {
        .init { [respond] request in
            try await Task.sleep(for: delay)
            return try await respond(request)
        }
    }

    /// The same response when a signal was sent.
    ///
    /// - Parameter signal: The signal.
    /// - Returns: The held response.
    public func held(until signal: ScriptedSignal) -> Self {
        .init { [respond] request in
            try await signal.wait()
            return try await respond(request)
        }
    }
}

/// The parts of a body.
private struct ScriptedParts: AsyncSequence, Sendable {
    let parts: [[UInt8]]
    let interval: Duration
    let failure: HTTPError?

    func makeAsyncIterator() -> AsyncIterator { .init(rest: parts[...], interval: interval, failure: failure) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>
        let interval: Duration
        let failure: HTTPError?

        mutating func next() async throws -> [UInt8]? {
            guard let part = rest.popFirst() else {
                if let failure { throw failure }
                return nil
            }
            if interval > .zero { try await Task.sleep(for: interval) }
            return part
        }
    }
}

extension HTTPFields {
    /// The fields, with a content type unless they have one.
    fileprivate func with(type: String) -> Self {
        guard self[.contentType] == nil else { return self }
        var fields = self
        fields[.contentType] = type
        return fields
    }
}
