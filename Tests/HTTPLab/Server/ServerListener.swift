import CNetworkLab
import Glibc
import NetworkLab

/// The listening socket of a ``ScriptedServer``, and the state that its threads share.
final class ServerListener: Sendable {
    let port: UInt16
    let stopped: ServerLatch
    let records = Observed<[ServerRecord]>([])
    let isListening = Observed(true)
    private let descriptor: OwnedDescriptor
    private let namespace: LabNamespace?
    private let script: ScriptedServer.Script

    /// The corresponding C functions are `socket`, `bind` and `listen`.
    init(
        _ address: ServerAddress,
        _ namespace: LabNamespace?,
        _ port: UInt16,
        _ backlog: Int32,
        _ receiveBuffer: Int32?,
        _ script: @escaping ScriptedServer.Script
    ) throws(LabError) {
        let type = [SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK].reduce(0) { $0 | Int32($1.rawValue) }
        let descriptor = OwnedDescriptor(try systemCall("socket") { socket(address.family, type, 0) })
        if case .unix(let path) = address {
            unlink(path)
        } else {
            try setOption(descriptor.number, level: SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR")
        }
        if let receiveBuffer {
            try setOption(descriptor.number, level: SOL_SOCKET, SO_RCVBUF, receiveBuffer, "SO_RCVBUF")
        }
        try systemCall("bind to \(address)") {
            withSocketAddress(address.bytes(port: port)) { bind(descriptor.number, $0, $1) }
        }
        try systemCall("listen") { listen(descriptor.number, backlog) }
        self.descriptor = descriptor
        self.port = try localPort(of: descriptor)
        self.namespace = namespace
        self.script = script
        stopped = try ServerLatch()
    }

    /// Accepts connections, up to a maximum number, until the server is stopped; runs on a thread of its own.
    func acceptConnections(_ limit: Int) {
        while waitForConnection(records.value.count < limit) {
            let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let number = accept4(descriptor.number, nil, nil, flags)
            if number >= 0 { serve(OwnedDescriptor(number)) }
        }
        // A process that another test starts has the descriptor until it executes its program.
        shutdown(descriptor.number, Int32(SHUT_RDWR))
        descriptor.close()
        isListening.update { $0 = false }
    }

    private func waitForConnection(_ accepts: Bool) -> Bool {
        var requests = [
            pollfd(fd: accepts ? descriptor.number : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopped.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&requests, 2, -1)
        return requests[1].revents == 0
    }

    private func serve(_ descriptor: OwnedDescriptor) {
        let number = records.update { records in
            records.append(ServerRecord(number: records.count))
            return records.count - 1
        }
        let connection = ServerConnection(number: number, descriptor, in: namespace, records, stopped)
        let steps = script(number)
        // Without a thread the script can't run; the client sees the close.
        do { _ = try LabThread { connection.run(steps) } } catch { connection.end(.closedHere) }
    }
}
