import Dispatch
import Locking
public import NetworkClient
import ResourceLoaderCore

/// Shows whether requests are running, without flickering for short requests and short pauses.
///
/// ```swift
/// let indicator = ActivityIndicator { state in light.isOn = state.isVisible }
/// let session = try HTTPSession(configuration: .init(eventMonitors: [indicator]))
/// ```
/// A request is active while it is sent and its response received, not while it waits, for example for a path.
public final class ActivityIndicator: EventMonitor {
    /// A state of the indicator.
    public enum State: Sendable, Hashable {
        /// No request is active.
        case notActive
        /// A request is active, but not for long enough.
        case delayingStart
        /// Requests are active.
        case active
        /// No request is active any more, but not for long enough.
        case delayingEnd

        /// Whether activity is shown.
        public var isVisible: Bool { self == .active || self == .delayingEnd }
    }

    private struct Activities {
        var machine: ActivityState
        var requests: Set<ObjectIdentifier> = []
        /// The requests that were active when they were paused.
        var paused: Set<ObjectIdentifier> = []
    }

    private let activities: Lock<Activities>
    private let queue = DispatchQueue(label: "activity-indicator")
    private let onChange: @Sendable (State) -> Void

    /// Creates an indicator that is not active.
    ///
    /// - Parameters:
    ///   - startDelay: The time for which a request is active before activity is shown.
    ///   - endDelay: The time for which activity is shown after the last request.
    ///   - onChange: Called with each new state, one call at a time, on a queue of the indicator.
    public init(
        startDelay: Duration = .seconds(1),
        endDelay: Duration = .milliseconds(170),
        onChange: @escaping @Sendable (State) -> Void
    ) {
        let machine = ActivityState(startDelay: startDelay.nanoseconds, endDelay: endDelay.nanoseconds)
        activities = .init(Activities(machine: machine))
        self.onChange = onChange
    }

    /// The current state.
    public var state: State { activities.withLock { .init($0.machine.phase) } }

    /// Adds an activity that is not a request.
    public func begin() { change { $0.machine.begin(at: $1) } }

    /// Ends an activity of ``begin()``.
    public func end() { change { $0.machine.end(at: $1) } }

    /// Counts a request as active or not, by its event.
    public func request(_ request: RequestHandle, did event: RequestEvent) {
        // The numbers of requests are those of a session, and an indicator may serve several.
        let id = ObjectIdentifier(request)
        let isActive: Bool
        switch event {
        case .paused:
            isActive = false
            activities.withLock { if $0.requests.contains(id) { _ = $0.paused.insert(id) } }
        case .resumed:
            // A request that waited when it was paused goes on waiting.
            guard activities.withLock({ $0.paused.remove(id) }) != nil else { return }
            isActive = true
        case .finished, .waiting, .waitingForConnectivity, .retrying, .pathLost, .gaveUp:
            isActive = false
            activities.withLock { _ = $0.paused.remove(id) }
        case .serialized: return
        default: isActive = true
        }
        let isKnown = activities.withLock { $0.requests.contains(id) }
        guard isActive != isKnown else { return }
        change { activities, now in
            if isActive {
                if activities.requests.insert(id).inserted { activities.machine.begin(at: now) }
            } else if activities.requests.remove(id) != nil {
                activities.machine.end(at: now)
            }
        }
    }

    private static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

    private func change(_ body: @Sendable (inout Activities, Int64) -> Void) {
        activities.withLock { activities in
            let before = activities.machine.phase
            body(&activities, Self.now)
            let phase = activities.machine.phase
            guard phase != before else { return }
            // In the order of the changes, since the lock is held.
            queue.async { [onChange] in onChange(.init(phase)) }
            guard let deadline = activities.machine.deadline else { return }
            let time = DispatchTime(uptimeNanoseconds: UInt64(deadline))
            queue.asyncAfter(deadline: time) { [weak self] in self?.change { $0.machine.advance(to: max($1, deadline)) }
            }
        }
    }
}

extension ActivityIndicator.State {
    init(_ phase: ActivityState.Phase) {
        switch phase {
        case .notActive: self = .notActive
        case .delayingStart: self = .delayingStart
        case .active: self = .active
        case .delayingEnd: self = .delayingEnd
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, at most 292 years.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds > 9_000_000_000 ? .max / 2 : seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
