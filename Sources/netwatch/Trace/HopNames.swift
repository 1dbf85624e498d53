import LinuxSystem
import Locking
import ReachabilityCore

/// Looks up the names of the hops, each on a thread, because getnameinfo(3) has no deadline.
final class HopNames: Sendable {
    private let kept = Lock<[IPAddress: Lookup]>([:])
    private let wakeup: Wakeup
    /// The maximum time that a name is waited for.
    private let timeout: Duration

    /// The state of a lookup.
    private enum Lookup {
        case pending(until: Instant)
        case known(String?)
    }

    /// Creates names that are not known yet.
    ///
    /// - Parameters:
    ///   - wakeup: Told whenever a name is known.
    ///   - timeout: The maximum time that a name is waited for.
    init(wakeup: Wakeup, timeout: Duration) {
        self.wakeup = wakeup
        self.timeout = timeout
    }

    /// Starts to look up the name of an address in the calling thread's network namespace, unless that was done before.
    func look(up address: IPAddress, at now: Instant) {
        let isNew = kept.withLock { lookups in
            guard lookups[address] == nil else { return false }
            lookups[address] = .pending(until: now.advanced(by: timeout))
            return true
        }
        guard isNew else { return }
        do throws(SystemError) {
            try SystemThread.detach("netwatch-lookup", stackSize: AddressLookup.stackSize) { [self] in
                keep(AddressLookup.name(of: .init(address)), of: address)
            }
        } catch {
            keep(nil, of: address)
        }
    }

    private func keep(_ name: String?, of address: IPAddress) {
        kept.withLock { $0[address] = .known(name) }
        wakeup.signal()
    }

    /// Returns the name of an address; nil if there is none, or none in time.
    func name(of address: IPAddress) -> String? {
        kept.withLock { lookups in
            if case .known(let name) = lookups[address] { name } else { nil }
        }
    }

    /// Returns until when the name of an address is worth waiting for; nil if it is not, or the name is known.
    func deadline(of address: IPAddress) -> Instant? {
        kept.withLock { lookups in
            if case .pending(let deadline) = lookups[address] { deadline } else { nil }
        }
    }
}
