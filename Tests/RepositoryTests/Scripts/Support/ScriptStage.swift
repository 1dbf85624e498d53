import Foundation
import NetworkLab

/// A copy of `scripts/` in a directory of its own, with stand-ins for the commands that the scripts call.
///
/// Each stand-in writes down how it was called; no other command can be found but the few that a script can't do
/// without, so that a test says what the machine has.
final class ScriptStage {
    /// The stage's directory, in the place of the repository.
    let root: URL
    private let bin: URL
    private let log: URL

    /// Commands of the machine that scripts may use: POSIX, and findutils.
    private static let common = [
        "sh", "env", "dirname", "mkdir", "touch", "mv", "find", "sed", "xargs", "cat", "grep", "rm", "mktemp", "tee",
    ]

    /// Sets the stage with the repository's scripts.
    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: "netwatch-\(UUID().uuidString)")
        bin = root.appending(path: "bin")
        log = root.appending(path: "calls")
        for directory in ["bin", "behaviour", "Sources"] {
            let path = root.appending(path: directory)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        }
        try Data().write(to: root.appending(path: "Package.swift"))
        try link("scripts", to: Repository.root.appending(path: "scripts").path)
        for command in Self.common { try provide(command) }
        for command in ["git", "ip", "unshare"] { try stand(in: command) }
        try stand(in: "swift")
        try stand(in: "pkg-config")
        try stand(in: "id", "echo 0")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    private var scripts: URL { root.appending(path: "scripts") }

    /// Puts a stand-in for a command, with a line of shell for what it does beside writing down its call.
    ///
    /// It is a link to a program that is there already: one just written could not be started while another thread's
    /// fork(2) has it open for writing (`ETXTBSY`).
    func stand(in command: String, _ body: String = ":") throws {
        let behaviour = root.appending(path: "behaviour/\(command)")
        try Data("\(body)\n".utf8).write(to: behaviour)
        let path = Repository.root.appending(path: "Tests/RepositoryTests/Scripts/Support/stand-in").path
        try? remove(command)
        try link("bin/\(command)", to: path)
    }

    /// Lets scripts find a command of this machine.
    func provide(_ command: String) throws {
        let candidates = ["/usr/bin", "/bin"].map { "\($0)/\(command)" }
        guard let path = candidates.first(where: FileManager.default.isExecutableFile) else { return }
        try link("bin/\(command)", to: path)
    }

    private func link(_ name: String, to path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: root.appending(path: name).path, withDestinationPath: path)
    }

    /// Takes a command away.
    func remove(_ command: String) throws {
        try FileManager.default.removeItem(at: bin.appending(path: command))
    }

    /// Runs a script to its end.
    func run(_ script: String, _ arguments: String...) throws -> LabProcess.Outcome {
        let environment = ["PATH": bin.path, "HOME": root.path, "TMPDIR": root.path]
        return try LabProcess.run(scripts.appending(path: script).path, arguments, environment: environment)
    }

    /// How the stand-ins of some commands were called, in order, since the last time this was asked.
    func calls(of commands: String...) throws -> [String] {
        defer { try? FileManager.default.removeItem(at: log) }
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init).filter { line in
            commands.contains { line.hasPrefix("\($0) ") }
        }
    }
}
