import Glibc
import NIOCore
import NetworkClientCore
import NetworkLab
import ReachabilityCore

@testable import NetworkClient

extension LabLoops {
    /// The number of sockets of all kinds in the namespace; proc(5), `/proc/net/sockstat`.
    ///
    /// Unlike the number of this process's descriptors, it concerns this test alone.
    func sockets() throws -> Int {
        try lab.run {
            guard let file = fopen("/proc/thread-self/net/sockstat", "r") else {
                throw LabError("sockstat", errno: errno)
            }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 64)
            guard fgets(&line, Int32(line.count), file) != nil else { throw LabError("sockstat", errno: errno) }
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let last = text.split(whereSeparator: \.isWhitespace).last, let count = Int(last) else {
                throw LabError("read '\(text)'", errno: EINVAL)
            }
            return count
        }
    }

    /// Waits until there are no more than this many sockets; the kernel releases a closed one a little later.
    func waitForSockets(_ count: Int) async throws { try await waitForSockets { $0 <= count } }

    /// Waits until the number of sockets satisfies a condition.
    func waitForSockets(_ condition: (Int) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !condition(sockets()) {
            if ContinuousClock.now > deadline {
                throw LabError("wait for sockets, of which there are \(try sockets())", errno: ETIMEDOUT)
            }
            await Polling.pause()
        }
    }

    /// Connects to an unreachable endpoint, and checks that nothing is left open.
    func failure(
        connectingTo endpoint: Endpoint,
        by connector: Connector = .init(tls: nil),
        limits: Timeouts = .lasting
    ) async throws -> HTTPError {
        let before = try sockets()
        do {
            let attempt = connector.connect(to: endpoint, limits: limits, on: loop) { _ in }
            let established = try await attempt.established.get()
            throw LabError("connected to \(established.metrics.remoteAddress ?? "?")", errno: EISCONN)
        } catch let error as HTTPError {
            try await waitForSockets(before)
            return error
        }
    }

    /// Adds a link on which packets to these addresses leave and are lost.
    func addSilentPeers(_ addresses: String...) throws {
        try lab.rtnl.createVeth("wan0", peer: "far0")
        try lab.setSysctl("net.ipv6.conf.wan0.accept_dad", to: 0)
        try lab.rtnl.setUp("wan0", "far0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wan0")
        for address in addresses { try lab.rtnl.setNeighbour(address, on: "wan0", state: .permanent) }
    }
}

extension Endpoint {
    /// A plain endpoint of TCP.
    init(_ host: String, _ port: Int = 9, _ binding: LocalBinding = .unbound) {
        self.init(isSecure: false, host: host, port: port, binding: binding)
    }

    /// A Unix socket.
    init(path: String) { self.init(isSecure: false, host: "localhost", port: 80, socketPath: path) }
}
