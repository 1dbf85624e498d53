import Glibc
import NetworkLab

/// A server as a child process of the test, with its configuration in a temporary folder, on a free port of 127.0.0.1.
package final class ServerDaemon: Sendable {
    /// The port, which stays the same after a restart.
    package let port: UInt16
    private let folder: LabFolder
    private let reserved: ReservedPort
    private let process: LabProcess

    /// The placeholder for the path of the configuration file.
    static let file = "configuration's file"

    /// Starts a server and waits until it reports that it is ready.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: Its arguments, with ``file`` for the path of the configuration file.
    ///   - sign: The output that means that it is ready; empty if there is none.
    ///   - predecessor: A stopped server, whose port is reused.
    ///   - configuration: Returns the configuration for a folder and a port.
    /// - Throws: The server's output, if it does not start.
    convenience init(
        _ program: String,
        arguments: [String],
        sign: String,
        after predecessor: ServerDaemon? = nil,
        configuration: (LabFolder, UInt16) throws -> String
    ) throws {
        try self.init(
            program,
            argumentsForPort: { _, _, file in arguments.map { $0 == Self.file ? file : $0 } },
            sign: sign,
            after: predecessor,
            configuration: configuration
        )
    }

    /// Starts a server whose arguments depend on its folder, port and configuration file; the other parameters are as
    /// above.
    init(
        _ program: String,
        argumentsForPort arguments: (_ folder: String, _ port: UInt16, _ file: String) -> [String],
        sign: String,
        after predecessor: ServerDaemon? = nil,
        configuration: (LabFolder, UInt16) throws -> String
    ) throws {
        folder = try LabFolder()
        // The server sets the same option on its own socket: no other program gets the port meanwhile.
        reserved = try predecessor?.reserved ?? ReservedPort(sharedBy: SO_REUSEADDR)
        port = reserved.number
        let file = try folder.write("configuration", try configuration(folder, port))
        // Into a file: a pipe that nobody reads would become full, and the server would wait for ever.
        let output = ">'\(folder.path)/output' 2>&1"
        let words = ["-c", "exec \"$0\" \"$@\" \(output)", program] + arguments(folder.path, port, file)
        process = try LabProcess("/bin/sh", words)
        if sign.isEmpty { try Self.waitForListener(on: port) } else { try waitForOutput(sign, of: program) }
    }

    private func waitForOutput(_ sign: String, of program: String) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let isRunning = process.isRunning
            // The file is not there before the shell has made it.
            let text = (try? output) ?? ""
            if text.contains(sign) { return }
            guard isRunning else { throw LabError("start \(program)", errno: EPIPE, detail: text) }
            guard ContinuousClock.now < deadline else {
                throw LabError("start \(program)", errno: ETIMEDOUT, detail: text)
            }
            Polling.pause()
        }
    }

    /// Waits until a program listens that writes nothing.
    private static func waitForListener(on port: UInt16) throws(LabError) {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
            let result = withSocketAddress(ServerAddress.loopback.bytes(port: port)) {
                connect(descriptor.number, $0, $1)
            }
            if result == 0 { return }
            if ContinuousClock.now > deadline { throw LabError("wait for a listener", errno: errno) }
            usleep(10_000)
        }
    }

    /// Stops the server in order, and waits for its end.
    package func stop() throws {
        try process.send(SIGTERM)
        _ = try process.finish()
    }

    /// The output so far.
    var output: String { get throws { try folder.text(of: "output") } }

    /// Ends the server by SIGKILL, and waits for its end.
    package func kill() throws {
        try process.send(SIGKILL)
        _ = try process.finish()
    }

    /// Returns the path of an installed program; nil if there is none.
    ///
    /// Debian installs servers in a directory that is not in a user's PATH.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
