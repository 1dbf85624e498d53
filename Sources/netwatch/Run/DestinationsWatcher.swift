import CommandLineSupport
import Reachability
import ReachabilityCore
import Synchronization

/// Holds the ways to a host's addresses against what is waited for; the event thread writes, the main thread reads.
final class DestinationsWatcher: Sendable {
    private let record: Mutex<DestinationsRecord>
    private let wakeup: Wakeup

    init(_ addresses: [IPAddress], condition: StateArgument, wakeup: Wakeup) {
        record = .init(.init(addresses, condition: condition))
        self.wakeup = wakeup
    }

    /// Whether the condition has held at some time.
    var hasHeld: Bool { record.withLock { $0.hasHeld } }

    /// Takes the way to one address as it is now.
    func note(_ path: DestinationPath) {
        let holds = record.withLock { record in
            record.note(path.status, of: path.destination)
            return record.hasHeld
        }
        if holds { wakeup.signal() }
    }
}

/// The states of the ways to a host's addresses, as far as they are known.
struct DestinationsRecord: Hashable {
    private let condition: StateArgument
    private let addresses: [IPAddress]
    private var states: [IPAddress: ReachabilityStatus] = [:]
    /// Whether the condition has held at some time: for all addresses if it is `notReachable`, otherwise for any.
    private(set) var hasHeld = false

    init(_ addresses: [IPAddress], condition: StateArgument) {
        self.addresses = addresses
        self.condition = condition
    }

    /// Takes the state of one of them.
    mutating func note(_ status: ReachabilityStatus, of address: IPAddress) {
        states[address] = status
        let holding = addresses.filter { states[$0].map(condition.holds) ?? false }
        if condition == .notReachable ? holding.count == addresses.count : !holding.isEmpty { hasHeld = true }
    }
}
