import Glibc
import HTTPLab
package import MQTTCore
import NetworkLab

/// A broker of MQTT 5 that does with each connection, one after the other, what a test says.
package final class ScriptedBroker: Sendable {
    private let listener: Int32

    /// A connection from a client.
    package final class Connection {
        private let descriptor: Int32
        private var decoder = MQTTDecoder(version: .v5)
        private var buffer = [UInt8](repeating: 0, count: 4096)

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Waits for a packet; nil if the client has closed the connection.
        package func receive() throws -> MQTTPacket? {
            while true {
                if let packet = try decoder.next() { return packet }
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return nil }
                decoder.append(buffer[..<count])
            }
        }

        package func send(_ packets: [MQTTPacket]) throws {
            let bytes = try packets.flatMap { try $0.encoded(as: .v5) }
            let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            guard count == bytes.count else { throw LabError("send", errno: errno) }
        }
    }

    /// Listens on port 1883 of an address.
    ///
    /// - Parameters:
    ///   - address: The IPv4 address, in the namespace of the caller.
    ///   - serve: Called with each connection, which is closed when it returns.
    /// - Throws: The errno of bind(2) or listen(2), for example if the port is taken.
    package init(on address: String, serve: @escaping @Sendable (Connection) throws -> Void) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = try systemCall("socket") { socket(AF_INET, type, 0) }
        self.listener = listener
        var (name, isOn) = (sockaddr_in(), Int32(1))
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(1883).bigEndian
        name.sin_addr.s_addr = inet_addr(address)
        try systemCall("bind") {
            withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        try systemCall("listen") { listen(listener, 1) }
        _ = try LabThread {
            while true {
                let client = accept(listener, nil, nil)
                // After shutdown(2).
                if client < 0, errno == EINVAL { break }
                if client >= 0 { try? serve(Connection(client)) } else { Polling.pause() }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
