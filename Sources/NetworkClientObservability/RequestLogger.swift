public import Logging
public import NetworkClient

/// Logs the requests of a session with swift-log.
///
/// ```swift
/// let session = try HTTPSession(configuration: .init(eventMonitors: [RequestLogger(logger)]))
/// ```
/// Waiting, retries and lost paths are logged at the level `info`, failures at `error`, the rest at `debug` or, for
/// single steps, at `trace`. Messages are constant; what differs is metadata, under `request.id`, `http.method`,
/// `request.tag`, `url`, `status`, `error`, `reason` and `delay`. URLs are logged without user information and query.
public struct RequestLogger: EventMonitor {
    private let logger: Logger

    /// Creates a monitor.
    ///
    /// - Parameter logger: The logger.
    public init(_ logger: Logger) { self.logger = logger }

    /// Logs an event.
    public func request(_ request: RequestHandle, did event: RequestEvent) {
        guard let entry = LogEntry(event), logger.logLevel <= entry.level else { return }
        let description = RequestDescription(request)
        var metadata = entry.metadata
        metadata["request.id"] = "\(request.id)"
        if let tag = request.tag { metadata["request.tag"] = "\(tag)" }
        metadata["http.method"] = "\(description.method)"
        metadata["url"] = "\(description.url)"
        logger.log(level: entry.level, entry.message, metadata: metadata)
    }
}

/// The log entry of an event.
private struct LogEntry {
    let level: Logger.Level
    let message: Logger.Message
    let metadata: Logger.Metadata

    private init(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }

    /// Creates an entry; nil for progress, which is not logged.
    init?(_ event: RequestEvent) {
        switch event {
        case .waitingForConnectivity(let reason): self.init(.info, "request waits for a path", ["reason": "\(reason)"])
        case .retrying(let delay, let reason, let error):
            self.init(
                .info,
                "request will be retried",
                ["delay": "\(delay)", "reason": "\(reason)", "error": "\(error)"]
            )
        case .pathLost(let error): self.init(.info, "request lost its path", ["error": "\(error)"])
        case .gaveUp(let reason): self.init(.info, "request is not retried", ["reason": "\(reason)"])
        case .sentAgain(let error): self.init(.debug, "request is resent", ["error": "\(error)"])
        case .redirected(_, let target, let status):
            self.init(.debug, "request is redirected", ["target": "\(target)", "status": "\(status)"])
        case .authenticating(let scheme, _):
            self.init(.debug, "request is resent with credentials", ["scheme": "\(scheme)"])
        case .finished(.success(let response)):
            self.init(.debug, "request finished", ["status": "\(response.status)"])
        case .finished(.failure(let error)):
            self.init(error.code == .cancelled ? .debug : .error, "request failed", ["error": "\(error)"])
        case .serialized(let error?): self.init(.error, "response is rejected", ["error": "\(error)"])
        default:
            guard let step = Self.step(event) else { return nil }
            self = step
        }
    }

    private static func step(_ event: RequestEvent) -> LogEntry? {
        switch event {
        case .waiting: .init(.trace, "request waits for a connection")
        case .paused: .init(.trace, "request is paused")
        case .resumed: .init(.trace, "request is resumed")
        case .attempt(let number, let isReused, _):
            .init(.trace, "attempt begins", ["attempt": "\(number)", "connection": isReused ? "reused" : "new"])
        case .sent: .init(.trace, "request was sent")
        case .resumedDownload(let offset, let total):
            .init(.debug, "download is resumed", ["offset": "\(offset)", "total": total.map { "\($0)" } ?? "unknown"])
        case .head(let head): .init(.trace, "response begins", ["status": "\(head.status.code)"])
        default: nil
        }
    }
}
