import CNetworkLab
import Glibc
import Locking
import NetworkLab

/// A connection of a ``ScriptedServer``, on a thread of its own.
package final class ServerConnection: Sendable {
    /// Ends a script.
    struct Ended: Error { var how: ServerRecord.End }

    /// Its position in the order of acceptance.
    package let number: Int
    let descriptor: OwnedDescriptor
    /// The server's network namespace; nil for the test's own.
    let namespace: LabNamespace?
    let records: Observed<[ServerRecord]>
    let stopped: ServerLatch
    /// The bytes that were read and do not belong to a request yet.
    let pending = Lock<[UInt8]>([])
    /// The head that was read last.
    let lastHead = Lock("")

    init(
        number: Int,
        _ descriptor: OwnedDescriptor,
        in namespace: LabNamespace?,
        _ records: Observed<[ServerRecord]>,
        _ stopped: ServerLatch
    ) {
        self.number = number
        self.descriptor = descriptor
        self.namespace = namespace
        self.records = records
        self.stopped = stopped
        // Each piece is sent immediately; Unix sockets have neither the delay nor the option.
        try? setOption(descriptor.number, level: Int32(IPPROTO_TCP), TCP_NODELAY, 1, "TCP_NODELAY")
    }

    /// Runs a script to its end.
    func run(_ steps: [ServerStep]) {
        do {
            for step in steps { try perform(step) }
            end(.closedHere)
        } catch let ended as Ended {
            end(ended.how)
        } catch {
            end(.closedHere)
        }
    }

    /// Closes the connection and records how it ended.
    func end(_ how: ServerRecord.End) {
        descriptor.close()
        record { record in
            if how == .closedByClient || how == .resetByClient { record.clientEnd = how }
            record.end = how
            record.ended = .now
        }
    }

    func record(_ change: @Sendable (inout ServerRecord) -> Void) {
        records.update { change(&$0[number]) }
    }

    /// Waits until the socket or another descriptor is ready.
    ///
    /// - Returns: The events of the socket, and whether the other descriptor is ready.
    func wait(
        for events: Int16,
        or other: Int32 = -1,
        within limit: Duration? = nil
    ) throws -> (socket: Int16, other: Bool) {
        var requests = [
            pollfd(fd: descriptor.number, events: events, revents: 0),
            pollfd(fd: stopped.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        try systemCall("poll") { poll(&requests, 3, limit?.pollMilliseconds ?? -1) }
        if requests[1].revents != 0 { throw Ended(how: .stopped) }
        return (requests[0].revents, requests[2].revents != 0)
    }

    /// Whether bytes have been received that were not taken yet.
    package var hasInput: Bool {
        get throws {
            if pending.withLock({ !$0.isEmpty }) { return true }
            return try wait(for: Int16(POLLIN), within: .zero).socket & Int16(POLLIN) != 0
        }
    }

    /// Waits until bytes are available, and reads them.
    ///
    /// - Throws: The end of the connection.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count > 0 {
                let bytes = Array(buffer.prefix(count))
                record { $0.received += bytes }
                return bytes
            }
            if count == 0 { throw Ended(how: .closedByClient) }
            if errno != EAGAIN { throw Ended(how: .resetByClient) }
            _ = try wait(for: Int16(POLLIN))
        }
    }

    /// Sends bytes, in as many pieces as the kernel accepts.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                Glibc.send(
                    descriptor.number,
                    raw.baseAddress?.advanced(by: sent),
                    raw.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                _ = try wait(for: Int16(POLLOUT))
            } else {
                throw Ended(how: .resetByClient)
            }
        }
    }
}
