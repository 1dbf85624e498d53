import Foundation
import NetworkLab

/// A copy of `scripts/` in a separate directory, with substitutes for the commands that the scripts call.
///
/// Each substitute records its calls; only a few indispensable commands can be found besides, so that a test determines
/// what the machine has.
final class ScriptStage {
    /// The stage's directory, in place of the repository.
    let root: URL
    private let bin: URL
    private let log: URL

    /// Commands of the machine that scripts may use: POSIX, and findutils.
    private static let common = [
        "sh", "env", "dirname", "mkdir", "touch", "mv", "find", "sed", "xargs", "cat", "grep", "rm", "mktemp", "tee",
        "ls", "tail", "tr", "cp", "chmod", "cut", "awk", "readlink",
    ]

    /// The commands that only the kernel lab calls.
    private static let kernelLab = [
        "qemu-system-x86_64", "busybox", "depmod", "xz", "jq", "tcpdump", "iw", "hostapd", "wpa_supplicant", "pppd",
        "wg", "teamd",
    ]

    /// Makes a stage with the repository's scripts.
    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: "netwatch-\(UUID().uuidString)")
        bin = root.appending(path: "bin")
        log = root.appending(path: "calls")
        for directory in ["bin", "behaviour", "Sources"] {
            let path = root.appending(path: directory)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        }
        try Data().write(to: root.appending(path: "Package.swift"))
        try link(".ci", to: Repository.root.appending(path: ".ci").path)
        try link("scripts", to: Repository.root.appending(path: "scripts").path)
        for command in Self.common { try provide(command) }
        let forTests = [
            "ip", "tmux", "nginx", "apache2", "lighttpd", "curl", "perl", "python3", "unshare", "tinyproxy", "squid",
            "microsocks", "nghttpd", "nghttpx", "h2o", "caddy", "mosquitto", "mosquitto_sub", "nats-server", "zsh",
            "fish",
            "mandoc",
            "dpkg-shlibdeps", "krb5kdc", "kadmin.local", "kinit",
        ]
        for command in ["git"] + forTests + Self.kernelLab { try stand(in: command) }
        try stand(in: "swift")
        try stand(in: "pkg-config")
        try stand(in: "id", "echo 0")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// Adds a substitute for a command, with a line of shell that it runs besides logging its call.
    ///
    /// It is a link to an existing program: a new file could not be executed while another thread's
    /// fork(2) has it open for writing (`ETXTBSY`).
    func stand(in command: String, _ body: String = ":") throws {
        let behaviour = root.appending(path: "behaviour/\(command)")
        try Data("\(body)\n".utf8).write(to: behaviour)
        let path = Repository.root.appending(path: "Tests/RepositoryTests/Scripts/Support/stand-in").path
        try? remove(command)
        try link("bin/\(command)", to: path)
    }

    /// Makes a command of this machine available to scripts.
    func provide(_ command: String) throws {
        let candidates = ["/usr/bin", "/bin"].map { "\($0)/\(command)" }
        guard let path = candidates.first(where: FileManager.default.isExecutableFile) else { return }
        try link("bin/\(command)", to: path)
    }

    /// Makes a command at another path available to scripts.
    func provide(_ command: String, at path: String) throws {
        try link("bin/\(command)", to: path)
    }

    private func link(_ name: String, to path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: root.appending(path: name).path, withDestinationPath: path)
    }

    /// Removes a command.
    func remove(_ command: String) throws {
        try FileManager.default.removeItem(at: bin.appending(path: command))
    }

    /// Makes `swift build` write fuzz targets that run a line of shell, and run another line itself.
    func provideFuzzTargets(runningBody body: String, also other: String = ":") throws {
        try? FileManager.default.createDirectory(at: root.appending(path: "Fuzz"), withIntermediateDirectories: true)
        try? provide("nice")
        try? link("Fuzz/Corpus", to: Repository.root.appending(path: "Fuzz/Corpus").path)
        try write("#!/bin/sh\n\(body)\n", to: "fuzz-target")
        let release = "\"$HOME/.build-fuzz/release\""
        let targets = try Repository.names(in: "Fuzz/Corpus").joined(separator: " ")
        let copy = "cp \"$HOME/fuzz-target\" \(release)/$target; chmod 755 \(release)/$target"
        try stand(in: "swift", "mkdir -p \(release); for target in \(targets); do \(copy); done; \(other)")
    }

    /// Provides the directories of a debug build, in which there is a service that does nothing.
    func provideDebugBuild() throws {
        try write("", to: ".build/x86_64-unknown-linux-gnu/debug/description.json")
        try link(".build/debug", to: "x86_64-unknown-linux-gnu/debug")
        try stand(in: "netwatchd")
        try link(".build/debug/netwatchd", to: bin.appending(path: "netwatchd").path)
        try stand(in: "docc")
    }

    /// The environment of programs on the stage.
    var environment: [String: String] { ["PATH": bin.path, "HOME": root.path, "TMPDIR": root.path] }

    /// Writes a file, relative to the stage's root.
    func write(_ text: String, to path: String) throws {
        let file = root.appending(path: path)
        let directory = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Runs a script to its end.
    func run(_ script: String, _ first: String, _ rest: String...) throws -> LabProcess.Outcome {
        try run(script, [first] + rest)
    }

    /// Runs a script to its end.
    func run(
        in directory: String = "scripts",
        _ script: String,
        _ arguments: [String] = []
    ) throws -> LabProcess.Outcome {
        let path = root.appending(path: "\(directory)/\(script)").path
        return try LabProcess.run(path, arguments, environment: environment)
    }

    /// Returns the calls of some commands since the last time, in order.
    func calls(of commands: String...) throws -> [String] {
        defer { try? FileManager.default.removeItem(at: log) }
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init).filter { line in
            commands.contains { line.hasPrefix("\($0) ") }
        }
    }
}
