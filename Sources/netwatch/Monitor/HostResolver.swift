import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import Reachability
import ReachabilityCore

/// Resolves a name on a separate thread, because getaddrinfo(3) has no deadline.
///
/// An abandoned thread ends with the process.
final class HostResolver: Sendable {
    private let kept: Kept

    /// The result, once it is known.
    var resolution: Resolution? { kept.resolution.withLock { $0 } }

    /// Starts to resolve a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - namespace: The network namespace in which the name is resolved.
    ///   - wakeup: Told when the resolution is there.
    /// - Throws: The errno, if there is no thread to be had.
    init(_ name: String, in namespace: NetworkNamespace, wakeup: Wakeup) throws(SystemError) {
        let kept = Kept()
        self.kept = kept
        try AddressLookup.start(name, in: namespace.file.map(NetworkNamespaceFile.init)) { result in
            let resolution = Resolution(result)
            kept.resolution.withLock { $0 = resolution }
            wakeup.signal()
        }
    }

    /// The result of resolving a name.
    enum Resolution: Hashable, Sendable {
        /// Its addresses, best first (RFC 6724).
        case addresses([IPAddress])
        /// There are none, and why.
        case failed(String)

        /// The addresses; none if that failed.
        var addresses: [IPAddress] {
            if case .addresses(let addresses) = self { addresses } else { [] }
        }
    }

    /// Resolves a name, or gives up at a deadline (nil is never).
    static func resolve(
        _ name: String,
        in namespace: NetworkNamespace,
        during session: MonitorSession,
        until deadline: Instant?
    ) throws(ToolError) -> Resolution {
        let resolver: HostResolver
        do throws(SystemError) {
            resolver = try HostResolver(name, in: namespace, wakeup: session.wakeup)
        } catch {
            throw error.toolError("start a thread to resolve '\(name.escapedForTerminal)'")
        }
        while true {
            if let resolution = resolver.resolution { return resolution }
            if try session.next(until: deadline) == .deadline { return .failed("no name server answered in time") }
        }
    }

    /// Returns the addresses of a host, at least one: itself, if it is an address.
    ///
    /// - Throws: An error with a text for the user if the name cannot be resolved until the deadline.
    static func addresses(
        of host: Host,
        in namespace: NetworkNamespace,
        during session: MonitorSession,
        until deadline: Instant
    ) throws(ToolError) -> [IPAddress] {
        switch host {
        case .address(let address): return [address]
        case .name(let name):
            switch try resolve(name, in: namespace, during: session, until: deadline) {
            case .addresses(let addresses): return addresses
            case .failed(let why):
                throw .init("cannot resolve '\(name.escapedForTerminal)': \(why); give an address", exit: .unknown)
            }
        }
    }

    private final class Kept: Sendable {
        let resolution = Lock<Resolution?>(nil)
    }
}

extension HostResolver.Resolution {
    /// The result of a lookup, or of entering the namespace for it.
    fileprivate init(_ result: Result<AddressLookup.Outcome, SystemError>) {
        self =
            switch result {
            case .success(.addresses(let addresses)) where addresses.isEmpty: .failed("it has no address")
            case .success(.addresses(let addresses)): .addresses(addresses.map(\.address))
            case .success(.failure(EAI_SYSTEM, let errno)): .failed(SystemError(code: errno).description)
            case .success(.failure(let code, _)): .failed(Self.text(code))
            case .failure(let error): .failed(error.description)
            }
    }

    private static func text(_ failure: Int32) -> String {
        gai_strerror(failure).map { String(cString: $0) } ?? "error \(failure)"
    }
}
