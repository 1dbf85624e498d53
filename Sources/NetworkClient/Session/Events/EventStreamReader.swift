import HTTPSerialization
import NIOCore
import NetworkClientCore

/// Reads the events of a stream, and connects again when the connection has ended.
struct EventStreamReader {
    /// Waits before a reconnection.
    typealias Pause = @Sendable (ReconnectPause) async -> Void

    private let request: EventStreamRequest
    private let pause: Pause
    private var parser: EventStreamParser
    private var schedule = ReconnectSchedule()
    private var generator = StoredGenerator()
    /// The body of the current connection's response; nil between connections.
    private var body: ResponseBody.AsyncIterator?
    /// Bytes of the body that have not been parsed.
    private var input = ByteBuffer()
    private var gateKey: GateKey?
    /// Counts the changes of the network; nil before the first connection, and for a request that does not wait for a
    /// path.
    private var network: NetworkChanges?
    /// The number of changes when the current attempt began.
    private var changesBefore = 0
    /// Whether there has been a stream.
    private var hasStreamed = false
    private var isOver = false

    init(_ request: EventStreamRequest, _ pause: @escaping Pause) {
        self.request = request
        self.pause = pause
        parser = .init(lastEventID: request.lastEventID, maximumSize: request.maximumSize)
    }

    /// Returns the next event; nil once the sequence has ended.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> ServerSentEvent? {
        while !isOver {
            do throws(HTTPError) {
                if Task.isCancelled { throw cancellation }
                if let event = try parse() {
                    schedule.receivedEvent()
                    return event
                }
                if body == nil {
                    try await connect()
                } else if let piece = try await body?.next(isolation: actor) {
                    input = piece
                } else {
                    await reconnect(after: nil)
                }
            } catch {
                guard !isFinal(error) else {
                    end()
                    throw error
                }
                await reconnect(after: error)
            }
        }
        return nil
    }

    /// Parses the input up to the end of an event; returns nil if more input is needed.
    private mutating func parse() throws(HTTPError) -> ServerSentEvent? {
        guard input.readableBytes > 0 else { return nil }
        let parsed = input.withUnsafeReadableBytes { bytes in
            Result { () throws(EventStreamFault) in try parser.next(bytes) }
        }
        do throws(EventStreamFault) {
            let (consumed, event) = try parsed.get()
            input.moveReaderIndex(forwardBy: consumed)
            return event
        } catch {
            throw error.httpError
        }
    }

    /// Sends the request, and begins to read the response.
    private mutating func connect() async throws(HTTPError) {
        if network == nil, request.waitsForPath { network = NetworkChanges(request.session.core) }
        changesBefore = network?.count ?? 0
        let deadline = ErrorBodyDeadline()
        let handle = request.start(after: parser.lastEventID, deadline)
        gateKey = request.waitsForPath ? GateKey(handle.request.endpoint) : nil
        let response: StreamedResponse
        do throws(HTTPError) {
            response = try await handle.response()
        } catch {
            // The status is the outcome, also without the rest of the body.
            let isOfBody = [.readTimedOut, .bodyTruncated, .bodyTooLarge, .decompressionFailed].contains(error.code)
            let head = deadline.exceededBy ?? (isOfBody ? error.response : nil)
            guard let head, var rejection = Self.rejection(of: head) else { throw error }
            rejection.request = handle.request.description
            rejection.body = error.body
            throw rejection
        }
        // The server wants no reconnection.
        if response.status == 204 { return end() }
        if var error = Self.rejection(of: response.head) {
            error.request = handle.request.description
            if !(200...299).contains(response.status), let body = try? await response.body.collect(upTo: .max) {
                error.body = Array(body.readableBytesView.prefix(handle.core.configuration.maximumErrorBodySize))
            }
            throw error
        }
        schedule.opened()
        hasStreamed = true
        parser.startStream()
        body = response.body.makeAsyncIterator()
    }

    /// Waits until it is time to connect again.
    ///
    /// - Parameter error: The error that ended the connection; nil if the server ended it.
    private mutating func reconnect(after error: HTTPError?) async {
        let hasFailed = body == nil
        if hasFailed { schedule.failed() }
        body = nil
        input = ByteBuffer()
        // The server is not the reason, and the next request waits for the path.
        if error?.code == .pathLost, schedule.failures <= 1 { return }
        // The attempt may have failed because there was no path, which may be back since.
        let mayBeCausedByPath = hasFailed && error?.mayBeCausedByPath == true
        let change = mayBeCausedByPath ? network.map { NetworkChange(of: $0, after: changesBefore) } : nil
        let delay = schedule.delay(parser.retryTime, using: &generator)
        await pause(.init(delay: delay, gateKey: gateKey, change: change))
    }

    private mutating func end() {
        isOver = true
        body = nil
        input = ByteBuffer()
    }

    // MARK: Errors

    private var cancellation: HTTPError {
        let reason = "the task that reads the event stream was cancelled"
        return .init(.cancelled, processing: hasStreamed ? .answered : .neverSent, reason: reason)
    }

    /// Returns the error for a response that is not an event stream; nil for one that is.
    private static func rejection(of head: HTTPResponse) -> HTTPError? {
        let type = head.headerFields[.contentType]
        var error: HTTPError
        if head.status.code != 200 {
            let reason = "the server responded with status \(head.status.code), not with an event stream"
            error = .init(.unacceptableStatus, processing: Processing(status: head.status.code), reason: reason)
        } else if type.flatMap(MediaType.init)?.essence != MediaType.eventStream {
            let found = type.map { "Content-Type '\($0)'" } ?? "no Content-Type"
            let reason = "the response has \(found), not \(MediaType.eventStream)"
            error = .init(.unacceptableContentType, processing: .answered, reason: reason)
        } else {
            return nil
        }
        error.response = head
        return error
    }

    /// Returns whether another connection cannot change an error.
    ///
    /// A name that was found before may be found again: a VPN or another network has it.
    private func isFinal(_ error: HTTPError) -> Bool {
        switch error.code {
        case .circuitOpen: false
        case .nameNotFound: !hasStreamed
        default: error.code.failureKind == .permanent
        }
    }
}

/// A pause before a reconnection.
struct ReconnectPause: Sendable {
    /// The maximum duration.
    let delay: Duration
    /// The key of the gate at which the request waits for a path; nil for none.
    let gateKey: GateKey?
    /// The change of the network that ends it; nil if only the loss of the path does.
    let change: NetworkChange?
}

extension EventStreamFault {
    /// The error for a stream with a line or an event that is too large.
    fileprivate var httpError: HTTPError {
        let found =
            switch self {
            case .lineTooLong(let limit): "a line of the event stream is longer than \(limit) bytes"
            case .eventTooLarge(let limit): "an event of the stream has more than \(limit) bytes of data"
            }
        let reason = "\(found): raise maximumBodySize if that is expected"
        return .init(.bodyTooLarge, processing: .answered, reason: reason)
    }
}
