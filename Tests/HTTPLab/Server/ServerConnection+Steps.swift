import CNetworkLab
import Glibc
import NetworkLab

extension ServerConnection {
    package func perform(_ step: ServerStep) throws {
        switch step {
        case .readHead: try readHead()
        case .readBody: try readBody()
        case .readRequest:
            try readHead()
            try readBody()
        case .discardBody: try discardBody()
        case .readBytes(let count): _ = try take(count)
        case .readToEnd: while true { _ = try receive() }
        case .sendBytes(let bytes): try send(bytes)
        case .drip(let bytes, let interval): try drip(bytes, every: interval)
        case .flood(let bytes): while true { try send(bytes) }
        case .await(let latch): try pause(until: latch)
        case .hold: try hold()
        case .halfClose: shutdown(descriptor.number, Int32(SHUT_WR))
        case .reset: try reset()
        case .close: throw Ended(how: .closedHere)
        case .relay(let port, let limit): try relay(to: port, cutAfter: limit)
        case .forever(let steps): while true { for step in steps { try perform(step) } }
        case .respond(let steps):
            try readHead()
            try readBody()
            for request in records.value[number].requests.suffix(1) {
                for step in steps(request) { try perform(step) }
            }
        case .custom(let body): try body(self)
        }
    }

    private func drip(_ bytes: [UInt8], every interval: Duration) throws {
        for byte in bytes {
            // Waits for the end of the interval, or until the client closes the connection.
            let (events, _) = try wait(for: labPeerClosed, within: interval)
            if events != 0 { throw Ended(how: events & Int16(POLLERR) != 0 ? .resetByClient : .closedByClient) }
            try send([byte])
        }
    }

    private func pause(until latch: ServerLatch) throws {
        // Without requested events, poll(2) reports the socket only when both directions are closed.
        let (_, isOpen) = try wait(for: 0, or: latch.descriptor)
        if !isOpen { throw Ended(how: .resetByClient) }
    }

    /// Waits until the client closes the connection, without reading.
    private func hold() throws {
        let (events, _) = try wait(for: labPeerClosed)
        throw Ended(how: events & Int16(POLLERR) != 0 ? .resetByClient : .closedByClient)
    }

    /// Makes close(2) send a reset and discard unsent bytes (SO_LINGER, socket(7)).
    private func reset() throws {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        throw Ended(how: .closedHere)
    }

    /// Relays bytes to another server and back.
    private func relay(to port: UInt16, cutAfter limit: Int?) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let open = { OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) }) }
        // A socket stays in the namespace where it was created, which this thread is not in.
        let other = try namespace.map { try $0.run(open) } ?? open()
        try systemCall("connect to port \(port)") {
            withSocketAddress(ServerAddress.loopback.bytes(port: port)) { connect(other.number, $0, $1) }
        }
        var remaining = limit ?? .max
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while remaining > 0 {
            let (here, there) = try wait(for: Int16(POLLIN), or: other.number)
            if here != 0 {
                let bytes = try receive()
                try systemCall("send") { Glibc.send(other.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
            }
            if there {
                let count = recv(other.number, &buffer, min(buffer.count, remaining), 0)
                guard count > 0 else { return }
                try send(Array(buffer.prefix(count)))
                remaining -= count
            }
        }
    }
}
