import ReachabilityCore
import RequestGate

/// The hosts and gates of the scheduler, by endpoint and requirement.
struct HostQueues {
    private struct Host: Hashable {
        let isSecure: Bool
        let name: String
        let port: Int
        let socketPath: String?

        init(_ endpoint: Endpoint) {
            (isSecure, name, port, socketPath) = (endpoint.isSecure, endpoint.host, endpoint.port, endpoint.socketPath)
        }
    }

    /// The requests to one host that wait for the same gate.
    private struct Queue: Hashable {
        let host: Host
        /// The key of the gate; nil for requests without a gate.
        let key: GateKey?
    }

    private var hosts = HostRegister<Host>() {
        didSet { hasHosts = hosts.count > 0 }
    }
    /// Whether a host is known; the register would look up the metadata of its type for each request.
    private var hasHosts = false
    private var queues: [Queue: RequestScheduler.GateID] = [:]
    private var queuesByGate: [RequestScheduler.GateID: Queue] = [:]

    /// Returns whether the scheduler knows an endpoint's host.
    func isKnown(_ endpoint: Endpoint) -> Bool { hasHosts && hosts[Host(endpoint)] != nil }

    /// Returns the number of an endpoint's host; nil if the scheduler does not know it.
    func host(of endpoint: Endpoint) -> RequestScheduler.HostID? { hasHosts ? hosts[Host(endpoint)] : nil }

    /// Returns the scheduler's gates for a key.
    func gates(for key: GateKey) -> [RequestScheduler.GateID] { queues.filter { $0.key.key == key }.map(\.value) }

    /// Returns the scheduler's gate for a request, and creates it if there is none.
    mutating func gate(
        of request: CurrentRequest,
        in scheduler: inout RequestScheduler,
        isOpen: Bool,
        at now: BootInstant
    ) -> (RequestScheduler.GateID, isNew: Bool) {
        let host = Host(request.endpoint)
        let queue = Queue(host: host, key: request.policy.isGated ? GateKey(request) : nil)
        if let known = queues[queue] { return (known, false) }
        let number = hosts.number(of: host, in: &scheduler, at: now)
        let gate = scheduler.addGate(of: number, isOpen: isOpen, at: now)
        queues[queue] = gate
        queuesByGate[gate] = queue
        return (gate, true)
    }

    /// Removes a queue after its last request has left the scheduler.
    ///
    /// - Returns: Whether a queue with a gate key was removed.
    mutating func leave(
        _ gate: RequestScheduler.GateID,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) -> Bool {
        guard scheduler.requests(of: gate) == 0, let queue = queuesByGate.removeValue(forKey: gate) else {
            return false
        }
        queues[queue] = nil
        scheduler.forget(gate: gate)
        if let host = hosts[queue.host] { forget(host, in: &scheduler, at: now) }
        return queue.key != nil
    }

    /// Removes a host from the scheduler if it has no recorded failures.
    mutating func forget(_ host: RequestScheduler.HostID, in scheduler: inout RequestScheduler, at now: BootInstant) {
        hosts.release(host, in: &scheduler, at: now)
    }
}

extension GateKey {
    /// Creates the key for an endpoint: that of its proxy, if there is one.
    init(_ endpoint: Endpoint) {
        self.init(
            host: endpoint.proxy?.host ?? endpoint.host,
            port: endpoint.proxy?.port ?? endpoint.port,
            socketPath: endpoint.socketPath,
            requirement: endpoint.requirement
        )
    }

    /// Creates the key for a request: that of its endpoint, with its requirement on the validation of the path.
    ///
    /// This machine is reached without a path to the internet.
    init(_ request: CurrentRequest) {
        let endpoint = request.endpoint
        self.init(endpoint)
        needsValidation = request.policy.needsValidation && !endpoint.isOnThisMachine
    }

    /// The key of the connections to the same endpoint, which requests of any requirement on the validation share.
    var ofConnections: Self {
        var key = self
        key.needsValidation = false
        return key
    }
}

extension GateKeeper.Verdict {
    /// Whether requests may start.
    var isOpen: Bool { if case .open = self { true } else { false } }

    /// The condition that requests wait for; nil if they may start.
    var wait: GateWait? { if case .closed(let wait) = self { wait } else { nil } }
}

extension GateWait {
    /// Whether the paths are not known yet.
    var isUndecided: Bool { obstacle == .firstState || obstacle == .name || obstacle == .validation }

    /// Whether there is a path, which is not validated.
    var isForValidation: Bool {
        switch obstacle {
        case .validation, .portal, .internet: true
        case .firstState, .path, .name, .nameServer: false
        }
    }
}

extension Endpoint {
    /// Returns the text for what requests to the endpoint wait for.
    func words(for wait: GateWait) -> String { proxy == nil ? "\(wait)" : "\(wait), the proxy for \(text)" }
}
