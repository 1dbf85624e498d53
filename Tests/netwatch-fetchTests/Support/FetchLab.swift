import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab

@testable import netwatch_fetch

/// A namespace with servers, and `netwatch fetch` in it.
final class FetchLab {
    let namespace: LabNamespace
    /// A directory for the output.
    let folder: LabFolder
    private var servers: [AnyObject] = []

    /// The result of a run.
    struct Run {
        var code: Int32
        var bytes: [UInt8]
        var errors: String

        var output: String { String(decoding: bytes, as: UTF8.self) }
        /// The line of the error, without the tool's name; nil if there is not exactly one line.
        var error: String? {
            let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.count == 2, lines[1].isEmpty, lines[0].hasPrefix("netwatch: ") else { return nil }
            return String(lines[0].dropFirst("netwatch: ".count))
        }
    }

    init() throws {
        namespace = try LabNamespace()
        folder = try LabFolder()
    }

    /// A server that does the same with every connection; it lives as long as this object.
    func server(_ steps: ServerStep...) throws -> ScriptedServer { try server(steps) }

    /// The same, of a list.
    func server(_ steps: [ServerStep]) throws -> ScriptedServer {
        keep(try ScriptedServer(in: namespace, always: steps))
    }

    /// Keeps a server alive as long as this object.
    func keep<Server: AnyObject>(_ server: Server) -> Server {
        servers.append(server)
        return server
    }

    /// A server that responds to every request like this.
    func server(answering body: String, status: String = "200 OK", _ headers: String...) throws -> ScriptedServer {
        try server([.readRequest, .response(body, status: status, headers: headers)])
    }

    /// Starts the tool.
    func start(
        _ arguments: [String],
        stdout: ToolProcess.Destination = .pipe,
        stderr: Int32? = nil,
        terminalType: String = "xterm",
        session: ToolProcess.Session = .inherited
    ) throws -> ToolProcess {
        let environment = ["TERM": terminalType]
        return try ToolProcess(
            ["fetch"] + arguments,
            in: namespace,
            stdout: stdout,
            stderr: stderr,
            environment: environment,
            session: session
        )
    }

    /// Runs the tool to its end.
    func fetch(_ arguments: String..., input: String? = nil) throws -> Run {
        let tool = try start(arguments)
        if let input { tool.type(input) }
        tool.closeInput()
        let bytes = try tool.output.restBytes()
        let errors = try tool.errors.rest()
        return Run(code: try tool.exitCode(), bytes: bytes, errors: errors)
    }

    /// The names of the files in the directory, including hidden ones.
    var files: [String] {
        guard let directory = opendir(folder.path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension ScriptedServer {
    /// Where to send a request.
    func url(_ target: String = "/") -> String { "http://127.0.0.1:\(port)\(target)" }

    /// The first request that it read.
    var request: ServerRecord.Request? { connections.first?.requests.first }
}
