import Glibc
package import NetworkLab

/// A mosquitto broker on 127.0.0.1.
package final class Mosquitto: Sendable {
    private let daemon: ServerDaemon

    /// The port, which stays the same after a restart.
    package var port: Int { Int(daemon.port) }

    /// Starts a broker.
    ///
    /// - Parameters:
    ///   - predecessor: A stopped broker, whose port is reused.
    ///   - settings: The lines of the configuration after that of the port.
    ///   - prepare: Writes files for the settings, in which `@` stands for their folder.
    /// - Throws: The broker's output, if it does not start.
    package init(
        after predecessor: Mosquitto? = nil,
        _ settings: [String] = ["allow_anonymous true"],
        prepare: (LabFolder) throws -> Void = { _ in }
    ) throws {
        guard let program = ServerDaemon.find("mosquitto") else {
            throw LabError("start mosquitto", errno: ENOENT, detail: "run scripts/setup --for-tests")
        }
        daemon = try ServerDaemon(
            program,
            arguments: ["-c", ServerDaemon.file],
            sign: " running",
            after: predecessor?.daemon
        ) { folder, port in
            try prepare(folder)
            let lines = ["user root", "listener \(port) 127.0.0.1"] + settings
            return lines.map { $0.replacing("@", with: folder.path) }.joined(separator: "\n") + "\n"
        }
    }

    /// Stops the broker in order, and waits for its end.
    package func stop() throws { try daemon.stop() }

    /// Ends the broker as a crash does, and waits for its end.
    package func kill() throws { try daemon.kill() }

    /// Starts a reader, `mosquitto_sub`, whose output is a line for each message, and waits until it has subscribed.
    ///
    /// - Parameters:
    ///   - filter: The topics.
    ///   - options: Further options.
    /// - Returns: The process.
    /// - Throws: What it printed, if it can't subscribe.
    package func reader(_ filter: String, _ options: [String] = []) throws -> LabProcess {
        let arguments = ["-p", "\(port)", "-t", filter, "-q", "1", "-v", "-d"] + options
        let script = "exec stdbuf -oL mosquitto_sub \"$@\" 2>&1"
        let process = try LabProcess("/bin/sh", ["-c", script, "mosquitto_sub"] + arguments)
        try process.waitForOutput { $0.contains("Subscribed") }
        return process
    }
}
