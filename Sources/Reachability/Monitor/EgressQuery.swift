import Glibc
import LinuxSystem
package import ReachabilityCore

/// Reads the current path once, from the kernel's own lookups and the interfaces that they name.
///
/// A monitor reads all interfaces before its first state, for each of which the kernel takes 5 µs. This reads one or two,
/// and gives the same path where they suffice. It follows no changes.
package struct EgressQuery: Sendable {
    private let configuration: MonitorConfiguration

    /// Creates a query.
    ///
    /// - Parameter configuration: The namespace, the user, and the rules for interfaces.
    package init(_ configuration: MonitorConfiguration) { self.configuration = configuration }

    /// Returns the path to the public internet.
    ///
    /// Blocks the caller. The kernel is asked on another thread, since a driver may keep it busy, and since only that
    /// thread enters the namespace.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: The path; nil if there is none, if a monitor is needed to evaluate it, or if it can't be read in time.
    package func path(within timeout: Duration) -> NetworkPath? {
        let promise = BlockingPromise<NetworkPath?>()
        do throws(SystemError) {
            try SystemThread.detach("netwatch-query", stackSize: Self.stackSize) { promise.fulfill(read()) }
        } catch {
            return nil
        }
        return promise.wait(until: SystemClock.now.advanced(by: timeout)) ?? nil
    }

    private static let stackSize = 512 << 10

    private func read() -> NetworkPath? {
        do throws(ReachabilityError) { try configuration.namespace.enter() } catch { return nil }
        let context = configuration.context(user: configuration.user ?? geteuid())
        do throws(NetlinkError) {
            let answers = try LookupSocket(in: .current).probe(user: context.user, detail: true)
            let now = SystemClock.now
            let egress = try Self.read(answers.egressInterfaces, at: now)
            return PathEvaluator(context: context).path(by: answers, egress: egress, at: now)
        } catch {
            return nil
        }
    }

    /// Reads interfaces, their addresses, and what is known of their devices.
    private static func read(_ interfaces: [InterfaceIndex], at now: Instant) throws(NetlinkError) -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        guard !interfaces.isEmpty else { return snapshot }
        let socket = try InterfaceSocket(in: .current)
        for index in interfaces {
            for event in try socket.read(index) { snapshot.apply(event, .reply, at: now) }
        }
        let examined = snapshot.links.filter(\.hasUnnamedKind)
        guard !examined.isEmpty else { return snapshot }
        var devices = try DeviceSocket(in: .current)
        let nl80211 = devices.wirelessFamily()
        for link in examined {
            let report = DeviceInquiry(index: link.index, name: link.name, nl80211: nl80211).run(&devices)
            for message in report.messages { snapshot.apply(message.event, .reply, at: now) }
        }
        return snapshot
    }
}

extension NetlinkHeader {
    /// The header of a message that replies to a request, as one in a dump.
    fileprivate static let reply = Self(length: 0, type: 0, flags: .multi, sequence: 0, port: 0)
}
