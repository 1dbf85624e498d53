import NIOCore

/// Reports the events of requests: to the session's monitors, and to the listeners of each request.
///
/// Confined to the session's event loop, except for ``requestWasMade(_:)`` and ``reportLater(_:_:)``.
struct EventReporter: Sendable {
    private let monitors: [any EventMonitor]
    private let loop: any EventLoop

    init(_ monitors: [any EventMonitor], on loop: any EventLoop) {
        self.monitors = monitors
        self.loop = loop
    }

    /// Returns whether events of a request have a listener: a monitor of the session, or a listener of the request.
    func isObserved(_ handle: RequestHandle) -> Bool { !monitors.isEmpty || handle.hasListeners }

    /// Reports an event; called only if ``isObserved(_:)``, so that no event is created without a listener.
    func tell(_ event: RequestEvent, _ handle: RequestHandle) {
        for monitor in monitors { monitor.request(handle, did: event) }
        handle.tell(event)
    }

    /// Reports that a response continues what the receiver has of the body from earlier attempts.
    func reportResumption(of handle: RequestHandle, _ receiver: any BodyReceiver) {
        guard isObserved(handle), let progress = receiver.progress, progress.bytes > 0 else { return }
        tell(.resumedDownload(at: progress.bytes, of: progress.total), handle)
    }

    /// Reports how much of a response's body has been received; called only if ``isObserved(_:)``.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - receiver: The receiver of the body, whose progress includes earlier attempts; nil for memory.
    ///   - announced: The size of the body; nil if it is unknown.
    func reportReceived(_ handle: RequestHandle, by receiver: (any BodyReceiver)?, of announced: Int?) {
        if let progress = receiver?.progress {
            tell(.received(bytes: Int(progress.bytes), of: progress.total.map { Int($0) }), handle)
        } else {
            tell(.received(bytes: handle.run.metrics.bodyBytesReceived, of: announced), handle)
        }
    }

    /// Reports the end of a request to the monitors only: its listeners wait for its outcome.
    func reportEnd(of handle: RequestHandle, _ ending: Outcome.Ending) {
        for monitor in monitors { monitor.request(handle, did: .finished(ending)) }
    }

    /// Reports an event to the monitors only, from any thread.
    func reportLater(_ event: @autoclosure () -> RequestEvent, _ handle: RequestHandle) {
        guard !monitors.isEmpty else { return }
        let event = event()
        loop.execute { [monitors] in
            for monitor in monitors { monitor.request(handle, did: event) }
        }
    }

    /// Reports that a request was made, on the thread and in the task that makes it.
    func requestWasMade(_ handle: RequestHandle) {
        for monitor in monitors { monitor.requestWasMade(handle) }
    }

    /// Reports that the session has ended.
    func sessionWasInvalidated() {
        for monitor in monitors { monitor.sessionWasInvalidated() }
    }
}
