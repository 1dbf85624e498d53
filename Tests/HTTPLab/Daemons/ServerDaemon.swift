import Glibc
import NetworkLab

/// A real server as a child of the test, with its configuration in a temporary folder, on a port of 127.0.0.1 of its own.
package final class ServerDaemon: Sendable {
    /// Its port, which stays the same when it starts again.
    package let port: UInt16
    private let folder: LabFolder
    private let reserved: ReservedPort
    private let process: LabProcess

    /// Stands for the path of the configuration's file.
    static let file = "configuration's file"

    /// Starts a server and waits until it says that it serves.
    ///
    /// - Parameters:
    ///   - program: The program's path.
    ///   - arguments: Its arguments, ``file`` in the place of the configuration's.
    ///   - sign: What it says once it serves.
    ///   - predecessor: A server that has stopped, whose port it takes over.
    ///   - configuration: The configuration, by folder and port.
    /// - Throws: What it said, if it does not start.
    init(
        _ program: String,
        arguments: [String],
        sign: String,
        after predecessor: ServerDaemon? = nil,
        configuration: (LabFolder, UInt16) throws -> String
    ) throws {
        folder = try LabFolder()
        // The server says the same option of its own socket: nobody else is given the port meanwhile.
        reserved = try predecessor?.reserved ?? ReservedPort(sharedBy: SO_REUSEADDR)
        port = reserved.number
        let file = try folder.write("configuration", try configuration(folder, port))
        let words = ["-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments.map { $0 == Self.file ? file : $0 }
        process = try LabProcess("/bin/sh", words)
        try process.waitForOutput { $0.contains(sign) }
    }

    /// Ends it in order, and waits for its end.
    package func stop() throws {
        try process.send(SIGTERM)
        _ = try process.finish()
    }

    /// The file of an installed program; nil where there is none.
    ///
    /// Debian keeps servers in a directory that a user's PATH has not.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
