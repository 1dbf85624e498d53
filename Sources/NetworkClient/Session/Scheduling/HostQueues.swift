import ReachabilityCore
import RequestGate

/// The hosts and gates that the scheduler knows, by what they are to a session.
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

    private struct Line: Hashable {
        let host: Host
        /// What opens and closes it; nil for requests that ask nobody.
        let key: GateKey?
    }

    private var hosts = HostRegister<Host>()
    private var lines: [Line: RequestScheduler.GateID] = [:]
    private var names: [RequestScheduler.GateID: Line] = [:]

    /// Whether the scheduler knows an endpoint's host.
    func isKnown(_ endpoint: Endpoint) -> Bool { hosts.count > 0 && hosts[Host(endpoint)] != nil }

    /// The number of an endpoint's host, if the scheduler knows it.
    func host(of endpoint: Endpoint) -> RequestScheduler.HostID? { hosts.count > 0 ? hosts[Host(endpoint)] : nil }

    /// The lines that a gate opens and closes.
    func lines(at key: GateKey) -> [RequestScheduler.GateID] { lines.filter { $0.key.key == key }.map(\.value) }

    /// The line of a request, made if there is none.
    mutating func line(
        of request: CurrentRequest,
        in scheduler: inout RequestScheduler,
        isOpen: Bool,
        at now: BootInstant
    ) -> (RequestScheduler.GateID, isNew: Bool) {
        let host = Host(request.endpoint)
        let line = Line(host: host, key: request.policy.isGated ? GateKey(request.endpoint) : nil)
        if let known = lines[line] { return (known, false) }
        let number = hosts.number(of: host, in: &scheduler, at: now)
        let gate = scheduler.addGate(of: number, isOpen: isOpen, at: now)
        lines[line] = gate
        names[gate] = line
        return (gate, true)
    }

    /// A request has left a line; whether it was the last one, and the line is no more.
    mutating func leave(
        _ gate: RequestScheduler.GateID,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) -> Bool {
        guard scheduler.requests(of: gate) == 0, let line = names.removeValue(forKey: gate) else { return false }
        lines[line] = nil
        scheduler.forget(gate: gate)
        if let host = hosts[line.host] { forget(host, in: &scheduler, at: now) }
        return line.key != nil
    }

    /// Forgets a host against which nothing is held any more.
    mutating func forget(_ host: RequestScheduler.HostID, in scheduler: inout RequestScheduler, at now: BootInstant) {
        hosts.release(host, in: &scheduler, at: now)
    }
}

extension GateKey {
    /// What a connection's way is judged by: the proxy's, where there is one.
    init(_ endpoint: Endpoint) {
        self.init(
            host: endpoint.proxy?.host ?? endpoint.host,
            port: endpoint.proxy?.port ?? endpoint.port,
            socketPath: endpoint.socketPath,
            requirement: endpoint.requirement
        )
    }
}

extension GateKeeper.Verdict {
    /// Whether there is a way.
    var isOpen: Bool { if case .open = self { true } else { false } }

    /// What is waited for, where there is none.
    var wait: GateWait? { if case .closed(let wait) = self { wait } else { nil } }
}

extension GateWait {
    /// Whether it is not yet known what ways there are.
    var isUndecided: Bool { obstacle == .firstState || obstacle == .name }
}

extension Endpoint {
    /// What is waited for on the way there.
    func words(for wait: GateWait) -> String { proxy == nil ? "\(wait)" : "\(wait), the proxy for \(text)" }
}
