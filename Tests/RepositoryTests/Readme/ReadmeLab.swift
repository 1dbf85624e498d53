import NetworkLab

/// A machine with one wired uplink, as a reader of the README may have.
struct ReadmeLab {
    /// Its network.
    let namespace: LabNamespace

    /// Makes the network; without its default route if it is to be unreachable.
    init(isReachable: Bool = true) throws {
        namespace = try LabNamespace()
        let rtnl = namespace.rtnl
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.setUp("wan0", "far0")
        try rtnl.addAddress("192.0.2.2/24", on: "wan0")
        if isReachable { try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0") }
    }

    /// Starts a program in that network.
    func start(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        directory: String? = nil
    ) throws -> LabProcess {
        try namespace.run {
            try LabProcess(path, arguments, environment: environment, directory: directory)
        }
    }
}
