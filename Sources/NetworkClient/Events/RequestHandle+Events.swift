import Locking
import NIOCore
import Synchronization

extension RequestHandle {
    /// What happens to the request from now on, its ending included, which is the last event.
    ///
    /// Asked for after the ending, it is the ending alone. A slow reader misses the oldest events, never the last ones.
    public var events: AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            core.loop.execute { [self] in
                // The loop is where events come from: none can come in between.
                guard !isFinished else { return }
                isHeard.store(true, ordering: .relaxed)
                listeners.withLock { $0.append(continuation) }
            }
            whenEnded { [core] ending in
                core.loop.execute {
                    continuation.yield(.finished(ending))
                    continuation.finish()
                }
            }
        }
    }

    /// Tells whoever listens to this request.
    func tell(_ event: RequestEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}
