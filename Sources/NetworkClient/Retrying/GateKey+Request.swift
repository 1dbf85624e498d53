import ReachabilityCore
import RequestGate

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
