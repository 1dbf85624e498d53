public import Dispatch
import NIOCore
import NIOHTTP1

/// The progress of the bodies of a request and its response.
public struct RequestProgress: Sendable, Hashable {
    /// The number of bytes of the request's body that were passed to the connection in the current attempt.
    public var sent = 0
    /// The length of the request's body in bytes; nil if it is not known.
    public var toSend: Int64?
    /// The number of bytes of the response's body that were received, counted as in
    /// ``RequestEvent/received(bytes:of:)``.
    public var received = 0
    /// The length of the response's body in bytes; nil if it is not known.
    public var toReceive: Int?

    /// Creates a progress; the properties describe the parameters.
    public init(sent: Int = 0, toSend: Int64? = nil, received: Int = 0, toReceive: Int? = nil) {
        self.sent = sent
        self.toSend = toSend
        self.received = received
        self.toReceive = toReceive
    }
}

extension RequestHandle {
    /// The progress of the request, whenever it changes, from now on until the request finishes.
    ///
    /// For a finished request, it is the last value. At most 256 values are buffered: a slow reader misses intermediate
    /// ones, never the last. The sequence ends without an error even if the request fails.
    public final var progress: some AsyncSequence<RequestProgress, Never> & Sendable { progressValues }

    private final var progressValues: AsyncStream<RequestProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let observer = ProgressObserver(self)
            listen { event in
                if let progress = observer.progress(after: event) { continuation.yield(progress) }
                if case .finished = event { continuation.finish() }
            }
        }
    }

    /// Calls a closure with the progress of the request, whenever it changes, until the request finishes.
    ///
    /// ```swift
    /// session.upload("photos", from: .file(path)).onProgress { print($0.sent, "of", $0.toSend ?? 0) }
    /// ```
    ///
    /// Calls never overlap. The next value waits until a call returns; a slow closure misses intermediate values, never
    /// the last. The closure is called at least once, with the last value if the request has finished already.
    ///
    /// - Parameters:
    ///   - queue: The queue to call it on; nil for ``HTTPConfiguration/callbackQueue``.
    ///   - body: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public final func onProgress(
        on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable (RequestProgress) -> Void
    ) -> Self {
        let (queue, values) = (queue ?? core.configuration.callbackQueue, progressValues)
        Task {
            for await progress in values {
                await withUnsafeContinuation { continuation in
                    queue.async {
                        body(progress)
                        continuation.resume()
                    }
                }
            }
        }
        return self
    }
}

/// Derives the progress of a request from its events.
///
/// Unchecked, because it is used on the session's event loop only.
private final class ProgressObserver: @unchecked Sendable {
    /// Weak, because the request retains its listeners.
    private weak let handle: RequestHandle?
    private var progress = RequestProgress()
    private var hasReported = false

    init(_ handle: RequestHandle) { self.handle = handle }

    /// Returns the progress after an event; nil if the event changes nothing.
    func progress(after event: RequestEvent) -> RequestProgress? {
        switch event {
        case .attempt:
            progress = .init()
            return nil
        case .sending(let bytes, let length): (progress.sent, progress.toSend) = (bytes, length)
        case .received(let bytes, let length):
            (progress.received, progress.toReceive) = (bytes, length)
            if let handle { progress.setSent(handle) }
        case .finished(let ending):
            guard !hasReported, let handle else { return nil }
            progress = .init(handle, ending)
        default: return nil
        }
        hasReported = true
        return progress
    }
}

extension RequestProgress {
    /// Creates the last progress of a request that has finished; called on the session's event loop.
    fileprivate init(_ handle: RequestHandle, _ ending: Outcome.Ending) {
        setSent(handle)
        let stored = handle.run.extras?.receiver?.progress
        if let stored, stored.bytes > 0 {
            (received, toReceive) = (Int(clamping: stored.bytes), stored.total.map { Int(clamping: $0) })
        } else {
            received = handle.run.metrics.bodyBytesReceived
            toReceive = handle.current.head.method == .HEAD ? nil : ending.announcedLength
        }
    }

    /// Sets the part of the request's body; called on the session's event loop.
    fileprivate mutating func setSent(_ handle: RequestHandle) {
        (sent, toSend) = (handle.run.metrics.bodyBytesSent, handle.current.bodyLength)
    }
}

extension Outcome.Ending {
    /// The length of the response's body that its head announced; nil if it did not.
    fileprivate var announcedLength: Int? {
        switch self {
        case .success(let response): response["Content-Length"].first.flatMap { Int($0) }
        case .failure(let error): error.response?.headerFields[.contentLength].flatMap { Int($0) }
        }
    }
}
