import NIOCore
import Reachability
import ReachabilityCore
import RequestGate

/// Evaluates a key with the gate's decision table, and performs the lookups that the table asks for.
struct GateEvaluator {
    private let cache: PathCache
    private let pathLookup: PathLookup
    private let names: GateNames

    init(_ cache: PathCache, _ names: GateNames) {
        self.cache = cache
        self.names = names
        pathLookup = PathLookup(cache: cache)
    }

    /// Returns whether requests of a key may start.
    ///
    /// A request that has found no path before the first state was read waits for that state, which takes milliseconds.
    func verdict(for key: GateKey, needsRevalidation: Bool) -> GateKeeper.Verdict {
        if needsRevalidation, cache.connectivity.status == .unknown, cache.connectivity.path.reasons == [.reading] {
            return .closed(.init(obstacle: .firstState, key: key, reasons: [.reading]))
        }
        var inquiry = Inquiry(key, cache.connectivity.status, needsRevalidation)
        do {
            return try verdict(&inquiry)
        } catch is PathCache.NotKnownYet {
            return .closed(.init(obstacle: .firstState, key: key, reasons: [.reading]))
        } catch {
            // The state is unknown: requests start anyway, unless they might then use a path that is not allowed.
            guard key.requirement != .any else { return .free }
            return .closed(.init(obstacle: .firstState, key: key, reasons: [.netlinkFailed], isForLookup: true))
        }
    }

    /// Returns the addresses whose routes determine the verdict on a key.
    func destinations(of key: GateKey) -> [IPAddress] { addresses(of: key)?.compactMap(IPAddress.init) ?? [] }

    /// A key under evaluation, and the results so far.
    private struct Inquiry {
        let key: GateKey
        var question: GateContext
        var addresses: [SocketAddress] = []
        /// The paths to the addresses, or the default path: the source of the reasons why there is none.
        var paths: [DestinationPath?] = []

        init(_ key: GateKey, _ status: ReachabilityStatus, _ needsRevalidation: Bool) {
            self.key = key
            question = .init(key.requirement, status, .unixSocket, needsRevalidation: needsRevalidation)
        }
    }

    private func verdict(_ inquiry: inout Inquiry) throws -> GateKeeper.Verdict {
        try describe(&inquiry)
        while true {
            switch GateTable.verdict(inquiry.question) {
            case .go: return .free
            case .goTo(let positions, let interface): return open(inquiry, positions, interface)
            case .wait(let obstacle): return .closed(wait(inquiry, for: obstacle))
            case .lookupRoutes: try judgeAddresses(&inquiry)
            case .lookup:
                names.lookup(inquiry.key.host)
                try describe(&inquiry)
            }
        }
    }

    /// Sets the destination of the question.
    private func describe(_ inquiry: inout Inquiry) throws {
        let key = inquiry.key
        if key.socketPath != nil {
            inquiry.question.destination = .unixSocket
            return
        }
        if let addresses = addresses(of: key) {
            inquiry.addresses = addresses
            inquiry.question.destination = .addresses(nil)
            return
        }
        inquiry.question.destination = .name(GateName(names.state(of: key.host), isLocal: HostName.isLocal(key.host)))
        guard key.requirement != .any, inquiry.question.status != .unknown, inquiry.paths.isEmpty else { return }
        let path = try pathLookup.defaultPath(key.requirement)
        inquiry.paths = [path]
        inquiry.question.defaultInterface = path.flatMap { $0.isReachable ? $0.interface?.index : nil }
    }

    private func judgeAddresses(_ inquiry: inout Inquiry) throws {
        inquiry.paths = try pathLookup.paths(to: inquiry.addresses, inquiry.key.requirement)
        inquiry.question.destination = .addresses(inquiry.paths.map(RouteResult.init))
    }

    /// Returns the addresses, if they are known; none if the host is an address whose zone does not exist.
    private func addresses(of key: GateKey) -> [SocketAddress]? {
        if HostName.isNumeric(key.host) { return (try? [SocketAddress.numeric(key.host, port: key.port)]) ?? [] }
        if let known = cache.connectivity.addresses(of: key.host) {
            return known.compactMap { try? SocketAddress.numeric($0.description, port: key.port) }
        }
        guard case .addresses(let addresses, _) = names.state(of: key.host) else { return nil }
        return addresses.map { address in
            var address = address
            address.port = key.port
            return address
        }
    }

    private func open(
        _ inquiry: Inquiry,
        _ positions: [Int]?,
        _ interface: InterfaceIndex?
    ) -> GateKeeper.Verdict {
        .open(
            binding: interface.map { .interfaceIndex($0) } ?? .unbound,
            addresses: positions.map { $0.map { inquiry.addresses[$0] } }
        )
    }

    private func wait(_ inquiry: Inquiry, for obstacle: GateObstacle) -> GateWait {
        var wait = GateWait(obstacle: obstacle, key: inquiry.key)
        guard obstacle != .name else { return wait }
        for path in inquiry.paths {
            guard let path, !path.isReachable else { continue }
            for reason in path.reasons where !wait.reasons.contains(reason) { wait.reasons.append(reason) }
            for one in path.ruledOut where !wait.ruledOut.contains(one) { wait.ruledOut.append(one) }
        }
        if wait.reasons.isEmpty { wait.reasons = cache.connectivity.path.reasons }
        return wait
    }
}

extension GateName {
    fileprivate init(_ state: GateNames.State, isLocal: Bool) {
        self =
            switch state {
            case .notAsked: isLocal ? .local : .unresolved
            case .looking, .addresses: .resolving
            case .temporaryFailure: .temporaryFailure
            case .failure: .failure
            }
    }
}
