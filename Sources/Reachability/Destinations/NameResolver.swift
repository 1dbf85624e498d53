import Glibc
import ReachabilityCore

/// Finds the addresses of hosts without blocking the caller.
struct NameResolver: Sendable {
    /// Where the system's resolver, which blocks, is called.
    let threads: HelperThreads
    /// The system's resolver: addresses, or the code of getaddrinfo(3).
    var lookUp: @Sendable (_ name: String) -> AddressInfo.Answer = AddressInfo.lookUp

    /// The addresses of a host: itself, if it is an address.
    ///
    /// - Throws: ``NameResolutionError``, or `CancellationError` if the task is cancelled.
    func addresses(of host: String, within timeout: Duration) async throws -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        guard Self.mayBeName(host) else { throw NameResolutionError(host: host, code: .invalidName) }
        let answer = try await withDeadline(timeout) { try await self.answer(for: host) }
        switch answer {
        case .addresses(let addresses) where !addresses.isEmpty: return addresses
        case .addresses: throw NameResolutionError(host: host, code: .notFound)
        case .failure(let code): throw NameResolutionError(host: host, code: .init(getaddrinfo: code))
        case nil:
            try Task.checkCancellation()
            throw NameResolutionError(host: host, code: .timedOut(after: timeout))
        }
    }

    /// Waits for the resolver's answer, or for the task's cancellation; the resolver goes on then, for nobody.
    private func answer(for host: String) async throws -> AddressInfo.Answer {
        let stream = AsyncStream<AddressInfo.Answer>.makeStream()
        threads.enqueue {
            stream.continuation.yield(lookUp(host))
        }
        for await answer in stream.stream { return answer }
        throw CancellationError()
    }

    /// RFC 1035 allows 253 characters; a zone (`fe80::1%eth0`) is no part of an address here.
    private static func mayBeName(_ host: String) -> Bool {
        guard (1...254).contains(host.utf8.count) else { return false }
        return host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "%") }
    }
}

extension NameResolutionError.Code {
    /// What a code of getaddrinfo(3) means.
    init(getaddrinfo code: Int32) {
        switch code {
        case EAI_NONAME, AddressInfo.noData: self = .notFound
        case EAI_AGAIN: self = .unavailable
        default: self = .failed(code)
        }
    }
}
