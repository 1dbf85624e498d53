import Foundation
import NetworkLab

/// A directory to install into, and a tool to install.
final class InstallLab {
    /// The directory, which is removed with this object.
    let root: URL
    /// A small program that executes the built tool; that for `netwatch-fetch` has the same
    /// name with `-fetch`, and so on; that for `netwatchd` with `d`.
    let tool: String

    /// Makes both.
    ///
    /// - Parameter libraries: The libraries that the program is linked with in addition to the C library, needed or
    ///   not.
    /// - Throws: An error if something cannot be made.
    init(linking libraries: [String] = []) throws {
        root = FileManager.default.temporaryDirectory.appending(path: "netwatch-install-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        tool = root.appending(path: "built").path
        try compile(tool, executing: "netwatch", libraries)
        try compile(tool + "-fetch", executing: "netwatch-fetch", libraries)
        try compile(tool + "-fleet", executing: "netwatch-fleet", libraries)
        try compile(tool + "-forward", executing: "netwatch-forward", libraries)
        try compile(tool + "-outbox", executing: "netwatch-outbox", libraries)
        try compile(tool + "-validate", executing: "netwatch-validate", libraries)
        try compile(tool + "d", executing: "netwatchd", libraries)
    }

    /// Makes a small program that executes a product that was built with the tests.
    private func compile(_ path: String, executing name: String, _ libraries: [String]) throws {
        let source = path + ".c"
        let call = "execv(\"\(BuiltProducts.path(of: name))\", words)"
        let text = "#include <unistd.h>\nint main(int count, char **words) { return count && \(call); }\n"
        try Data(text.utf8).write(to: URL(filePath: source))
        // Written by the linker, so that no fork(2) of another thread can inherit it open for writing.
        let flags = libraries.isEmpty ? [] : ["-Wl,--no-as-needed"] + libraries.map { "-l\($0)" }
        let outcome = try LabProcess.run("/usr/bin/env", ["clang", "-o", path, source] + flags, within: .seconds(240))
        guard outcome.code == 0 else { throw LabError("clang", errno: 0, detail: outcome.errors) }
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// Runs a script of the repository, in this directory.
    func run(
        _ script: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> LabProcess.Outcome {
        let path = Repository.root.appending(path: "scripts/\(script)").path
        let all = ProcessInfo.processInfo.environment.filter { $0.key != "DESTDIR" }
        return try LabProcess.run(
            path,
            arguments,
            environment: all.merging(environment) { _, new in new },
            directory: root.path,
            within: .seconds(240)
        )
    }

    /// The files below a directory, relative to it, in alphabetical order.
    func files(beneath directory: String) throws -> [String] {
        let base = root.appending(path: directory)
        return try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { name in
            var isDirectory: ObjCBool = false
            let path = base.appending(path: name).path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
        }
        .sorted()
    }

    /// The contents of a file, relative to the directory.
    func read(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Whether this machine has a command.
    static func hasCommand(_ name: String) -> Bool {
        ["/usr/bin", "/bin", "/usr/sbin"].contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
}
