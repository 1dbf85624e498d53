import HTTPLab
import NIOCore
import NetworkLab

@testable import NetworkClient

/// Lookups controlled by their names: those that begin with `stalled` block until they are released.
final class ScriptedLookup: Sendable {
    /// The names that were looked up, in order.
    let begun = Observed<[String]>([])
    private let released = LabInbox<String>()

    /// Makes a resolver of these lookups.
    func resolver(_ configuration: LookupScheduler.Configuration = .init()) -> NameResolver {
        .init(configuration) { [self] name in lookup(name) }
    }

    /// Releases all stalled lookups, including later ones.
    func release() { released.put("all") }

    private func lookup(_ name: String) -> LookupResult {
        begun.update { $0.append(name) }
        if name.hasPrefix("stalled") { _ = try? released.wait(for: "release", within: .seconds(60)) { !$0.isEmpty } }
        if name.hasPrefix("missing") { return .failure(code: -2, errno: 0) }
        return .addresses((1...3).compactMap { try? SocketAddress(ipAddress: "192.0.2.\($0)", port: 0) })
    }
}

extension NameResolver {
    /// Waits until no thread is left.
    func waitForThreads(atMost count: Int = 0) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while threads > count {
            if ContinuousClock.now > deadline { throw LabError("wait for the end of \(threads) threads", errno: 110) }
            await Polling.pause()
        }
    }
}
