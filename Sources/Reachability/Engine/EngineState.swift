import Glibc
import Locking
import ReachabilityCore

/// What all runs of an engine share.
final class EngineState: Sendable {
    let configuration: MonitorConfiguration
    let sink: MonitorEngine.TimedSink
    let watches = WatchRegistry()
    private let count = Lock<MonitorCounters>(.init())

    init(_ configuration: MonitorConfiguration, _ sink: @escaping MonitorEngine.TimedSink) {
        self.configuration = configuration
        self.sink = sink
    }

    /// How often things happened, as of the event thread's last turn.
    var counters: MonitorCounters {
        get { count.withLock { $0 } }
        set { count.withLock { $0 = newValue } }
    }

    /// The user whose sockets are judged if the configuration names none.
    var effectiveUser: UInt32 { geteuid() }
}
