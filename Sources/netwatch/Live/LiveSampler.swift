import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// Reads what the kernel does not announce, on a separate thread: the counters of interfaces, and the radios' networks.
///
/// A driver may keep either question waiting; the screen must not wait with it. It ends with the object.
final class LiveSampler: Sendable {
    private let wakeup: Wakeup
    private let requests: Requests

    /// How often the counters are read.
    private static let interval = Duration.seconds(1)
    /// The number of these after which the radios are queried.
    private static let radioTurns = 5

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - monitor: It runs.
    ///   - inbox: The inbox for the results.
    /// - Throws: An error with a text for the user if no thread or descriptor is available.
    init(_ monitor: ReachabilityMonitor, _ inbox: LiveInbox) throws(ToolError) {
        let wakeup = try Wakeup.open()
        let requests = Requests()
        self.wakeup = wakeup
        self.requests = requests
        do throws(SystemError) {
            try SystemThread.detach("netwatch-sample") { Self.run(monitor, inbox, wakeup, requests) }
        } catch {
            throw error.toolError("start a thread")
        }
    }

    deinit {
        requests.isOver.store(true, ordering: .releasing)
        wakeup.signal()
    }

    /// Whether there are radios that are worth a question.
    func noteRadios(_ areUsed: Bool) { requests.readsRadios.store(areUsed, ordering: .releasing) }

    /// Queries the radios immediately, as one may have another network.
    func askRadios() {
        requests.radiosRequested.store(true, ordering: .releasing)
        wakeup.signal()
    }

    private static func run(
        _ monitor: ReachabilityMonitor,
        _ inbox: LiveInbox,
        _ wakeup: Wakeup,
        _ requests: Requests
    ) {
        let meter = try? monitor.trafficMeter()
        var turn = 0
        var next = SystemClock.now
        while !requests.isOver.load(ordering: .acquiring) {
            let radiosRequested = requests.radiosRequested.exchange(false, ordering: .acquiringAndReleasing)
            let isDue = SystemClock.now >= next
            if isDue, let messages = try? meter?.read() {
                inbox.put(.counters(counters(messages), at: SystemClock.now))
            }
            if radiosRequested || (isDue && turn % radioTurns == 0 && requests.readsRadios.load(ordering: .acquiring)) {
                if let details = try? monitor.wifiDetails(within: interval) { inbox.put(.wifi(details)) }
            }
            if isDue {
                turn += 1
                next = max(next.advanced(by: interval), SystemClock.now)
            }
            if wakeup.wait(until: next) { wakeup.clear() }
        }
    }

    private static func counters(_ messages: [TrafficMessage]) -> [InterfaceIndex: TrafficCounters] {
        var counters: [InterfaceIndex: TrafficCounters] = [:]
        for message in messages {
            counters[message.index] = .init(receivedBytes: message.receivedBytes, sentBytes: message.sentBytes)
        }
        return counters
    }

    /// The requests of the main thread.
    private final class Requests: Sendable {
        let readsRadios = Atomic(false)
        let radiosRequested = Atomic(false)
        let isOver = Atomic(false)
    }
}
