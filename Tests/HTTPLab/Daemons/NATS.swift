import Glibc
import NetworkLab

/// A nats-server with MQTT, which has version 3.1.1 only, on 127.0.0.1.
package final class NATS: Sendable {
    private let daemon: ServerDaemon

    /// The port of MQTT.
    package var port: Int { Int(daemon.port) }

    /// Starts a server.
    ///
    /// - Throws: The server's output, if it does not start.
    package init() throws {
        guard let program = ServerDaemon.find("nats-server") else {
            throw LabError("start nats-server", errno: ENOENT, detail: "run scripts/setup --for-tests")
        }
        daemon = try ServerDaemon(program, arguments: ["-c", ServerDaemon.file], sign: "Server is ready") {
            folder,
            port in
            """
            server_name: lab
            listen: "127.0.0.1:-1"
            jetstream { store_dir: "\(folder.path)/store" }
            mqtt { listen: "127.0.0.1:\(port)" }
            """
        }
    }

    /// Stops the server in order, and waits for its end.
    package func stop() throws { try daemon.stop() }
}
