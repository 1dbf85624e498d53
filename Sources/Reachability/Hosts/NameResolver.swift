import LinuxSystem
import ReachabilityCore

/// Resolves host names without blocking the caller.
struct NameResolver: Sendable {
    /// Looks up a name on a thread; returns the addresses, or the code of getaddrinfo(3).
    typealias Lookup = @Sendable (_ name: String) -> AddressLookup.Outcome

    /// The threads on which the system's resolver, which blocks, is called.
    let threads: ThreadPool
    /// The resolver: the system's, but for tests.
    var lookup: Lookup = Self.system

    /// The system's resolver.
    static let system: Lookup = { AddressLookup.addresses(of: $0) }

    /// Returns the addresses of a host: itself, if it is an address.
    ///
    /// - Parameters:
    ///   - host: An address or a name.
    ///   - timeout: How long a name's lookup may take.
    /// - Returns: The addresses, at least one.
    /// - Throws: ``ReachabilityError`` if there is none, or the task is cancelled.
    func addresses(of host: String, within timeout: Duration) async throws(ReachabilityError) -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        guard Self.mayBeName(host) else { throw ReachabilityError(.invalidName, host) }
        let outcome: AddressLookup.Outcome?
        do { outcome = try await withDeadline(timeout, { await ask(for: host) }) ?? nil } catch { throw .cancelled }
        switch outcome {
        case .addresses(let resolved)?:
            guard !resolved.isEmpty else { throw ReachabilityError(.nameNotFound, host) }
            return Self.unique(resolved.map(\.address))
        case .failure(let code, _)?: throw ReachabilityError(getaddrinfo: code, host: host)
        case nil:
            if Task.isCancelled { throw .cancelled }
            throw ReachabilityError(.nameLookupTimedOut, host, timeout: timeout)
        }
    }

    /// Waits for the resolver's outcome, or for the task's cancellation; the resolver is abandoned then.
    private func ask(for host: String) async -> AddressLookup.Outcome? {
        let stream = AsyncStream<AddressLookup.Outcome>.makeStream()
        threads.enqueue { [lookup] in
            stream.continuation.yield(lookup(host))
        }
        for await outcome in stream.stream { return outcome }
        return nil
    }

    /// RFC 1035 allows 253 characters; a zone (`fe80::1%eth0`) is no part of an address here.
    private static func mayBeName(_ host: String) -> Bool {
        guard (1...254).contains(host.utf8.count) else { return false }
        return host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "%") }
    }

    private static func unique(_ addresses: [IPAddress]) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return addresses.filter { seen.insert($0).inserted }
    }
}
