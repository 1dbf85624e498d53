import NetworkClientCore
import RequestGate

/// The request of an event stream, which each connection sends again.
struct EventStreamRequest: Sendable {
    let session: HTTPSession
    private let reference: String
    private let parameters: Parameters?
    private let headers: HTTPFields
    private let options: RequestOptions
    /// The ID of the last event that was processed before the first connection.
    let lastEventID: String
    /// The maximum size of a line, and of the data of an event, in bytes.
    let maximumSize: Int

    init(
        session: HTTPSession,
        reference: String,
        parameters: Parameters?,
        headers: HTTPFields,
        lastEventID: String,
        options: RequestOptions
    ) {
        self.session = session
        self.reference = reference
        self.parameters = parameters
        self.lastEventID = lastEventID
        let configuration = session.configuration
        maximumSize = options.maximumBodySize ?? configuration.maximumBodySize

        var headers = headers
        if headers[.accept] == nil { headers[.accept] = MediaType.eventStream }
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-cache" }
        self.headers = headers

        var options = options
        var timeouts = options.timeouts ?? configuration.timeouts
        if options.timeouts == nil { timeouts.read = nil }
        timeouts.total = nil
        options.timeouts = timeouts
        options.maximumBodySize = nil
        options.startsAtOnce = false
        // A transport needs no path.
        if options.gate == nil, configuration.transport == nil { options.gate = .waitsForConnectivity(nil) }
        self.options = options
    }

    /// Whether it waits while there is no path.
    var waitsForPath: Bool { (options.gate ?? session.configuration.gate).waits }

    /// Starts a connection's request.
    ///
    /// - Parameters:
    ///   - id: The ID of the last event; empty if there is none.
    ///   - deadline: The time limit for the body of a response with an error status.
    /// - Returns: The request.
    func start(after id: String, _ deadline: ErrorBodyDeadline = .init()) -> StreamRequest {
        var headers = headers
        headers[.lastEventID] = id.isEmpty ? nil : id
        let handle = session.stream(.get, reference, parameters: parameters, headers: headers, options: options)
        deadline.watch(handle)
        handle.resume()
        return handle
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = Self("Last-Event-ID") ?? .userAgent
}

extension MediaType {
    /// The type of event streams.
    static let eventStream = "text/event-stream"
}
