import Glibc
import LinuxSystem
import ReachabilityCore

/// Resolves host names without blocking the caller.
struct NameResolver: Sendable {
    /// The threads on which the system's resolver, which blocks, is called.
    let threads: ThreadPool
    /// The system's resolver.
    var lookup: @Sendable (_ name: String) -> AddressLookup.Answer = { AddressLookup.addresses(of: $0) }

    /// Returns the addresses of a host: itself, if it is an address.
    ///
    /// - Parameters:
    ///   - host: An address or a name.
    ///   - timeout: How long a name's lookup may take.
    /// - Returns: The addresses, at least one.
    /// - Throws: ``NameResolutionError``, or `CancellationError` if the task is cancelled.
    func addresses(of host: String, within timeout: Duration) async throws -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        guard Self.mayBeName(host) else { throw NameResolutionError(host: host, code: .invalidName) }
        switch try await withDeadline(timeout, { try await answer(for: host) }) {
        case .addresses(let resolved)?:
            guard !resolved.isEmpty else { throw NameResolutionError(host: host, code: .notFound) }
            return Self.unique(resolved.map(\.address))
        case .failure(let code, _)?: throw NameResolutionError(host: host, code: .init(getaddrinfo: code))
        case nil:
            try Task.checkCancellation()
            throw NameResolutionError(host: host, code: .timedOut(after: timeout))
        }
    }

    /// Waits for the resolver's answer, or for the task's cancellation; the resolver goes on then, for nobody.
    private func answer(for host: String) async throws -> AddressLookup.Answer {
        let stream = AsyncStream<AddressLookup.Answer>.makeStream()
        threads.enqueue { [lookup] in
            stream.continuation.yield(lookup(host))
        }
        for await answer in stream.stream { return answer }
        throw CancellationError()
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

/// Why a host's name gave no address.
public struct NameResolutionError: Error, Sendable, Hashable {
    /// The name.
    public let host: String
    /// What is wrong.
    public let code: Code

    /// What can be wrong.
    public enum Code: Sendable, Hashable {
        /// It is no name: empty, or with a character that no name has.
        case invalidName
        /// There is no such name, or it has no address (`EAI_NONAME`, `EAI_NODATA`).
        case notFound
        /// No name server replies for now (`EAI_AGAIN`).
        case unavailable
        /// The lookup timed out.
        case timedOut(after: Duration)
        /// Something else: the code of gai_strerror(3).
        case failed(Int32)

        /// The meaning of a code of getaddrinfo(3).
        init(getaddrinfo code: Int32) {
            switch code {
            case EAI_NONAME, AddressLookup.noData: self = .notFound
            case EAI_AGAIN: self = .unavailable
            default: self = .failed(code)
            }
        }
    }
}

extension NameResolutionError: CustomStringConvertible {
    /// What is wrong with which name, and what may help.
    public var description: String {
        switch code {
        case .invalidName: "'\(host)' is neither an address nor a host's name"
        case .notFound: "there is no address for '\(host)'; check the spelling"
        case .unavailable: "no name server replies for '\(host)'; use an address, or try again once one is reachable"
        case .timedOut(let time): "no reply for '\(host)' within \(time); use an address, or allow more time"
        case .failed(let code): "the lookup of '\(host)' failed with getaddrinfo(3)'s code \(code)"
        }
    }
}
