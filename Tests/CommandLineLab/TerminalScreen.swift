import Glibc
package import NetworkLab

/// A terminal of a given size in which the tool runs: tmux(1), whose server ends with the object.
package final class TerminalScreen {
    private let server: LabProcess
    private let folder: TemporaryFolder
    private var socket: String { folder.path + "/tmux" }

    /// Opens a terminal in which the tool runs, in the lab's namespace, on a machine with the host name `router`.
    ///
    /// When the tool ends, the terminal shows `ended with` and its code.
    ///
    /// The prelude, which ends with `;` or `&&`, is executed before the tool; `ownsMounts` gives both a mount namespace.
    package init(
        _ arguments: [String],
        columns: Int,
        rows: Int,
        in lab: LabNamespace,
        shell prelude: String = "",
        ownsMounts: Bool = false
    ) throws {
        folder = try TemporaryFolder()
        let socket = folder.path + "/tmux"
        // In the foreground, so that this process can end it; it waits for its first session.
        server = try lab.run {
            try LabProcess(Self.tmux, ["-D", "-S", socket, "-f", "/dev/null"], environment: Self.environment)
        }
        let words = ([ToolBinary.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let tool = "echo router > /proc/sys/kernel/hostname; \(prelude)\(words); echo ended with $?; exec cat"
        let size = ["-x", "\(columns)", "-y", "\(rows)"]
        let namespaces = ownsMounts ? "--uts --mount" : "--uts"
        let command = ["exec unshare \(namespaces) sh -c '\(tool.replacing("'", with: "'\\''"))'"]
        let deadline = ContinuousClock.now + .seconds(120)
        while try run(["new-session", "-d", "-c", folder.path] + size + command).code != 0 {
            guard ContinuousClock.now < deadline else { throw LabError("start tmux", errno: ETIMEDOUT) }
            Polling.pauseForProcess()
        }
    }

    /// The tool's working directory.
    package var directory: String { folder.path }

    /// The names of the files in that directory.
    package var files: [String] { folder.names }

    /// The visible rows.
    package func rows() throws -> [String] {
        let outcome = try run(["capture-pane", "-p"])
        guard outcome.code == 0 else { throw LabError("capture", errno: EPIPE, detail: outcome.errors) }
        return outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The rows with the escape sequences that color them.
    package func colouredText() throws -> String { try run(["capture-pane", "-p", "-e"]).output }

    /// Waits until the screen meets a condition, and returns its rows.
    @discardableResult
    package func wait(for what: String, until condition: ([String]) -> Bool) throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let rows = try rows()
            if condition(rows) { return rows }
            guard ContinuousClock.now < deadline else {
                throw LabError("see \(what)", errno: ETIMEDOUT, detail: rows.joined(separator: "\n"))
            }
            Polling.pauseForProcess()
        }
    }

    /// Waits until a text is shown.
    @discardableResult
    package func wait(for text: String) throws -> [String] {
        try wait(for: text) { rows in rows.contains { $0.contains(text) } }
    }

    /// Presses keys, by their names in tmux.
    package func press(_ keys: String...) throws { _ = try run(["send-keys"] + keys) }

    /// Sends characters as a terminal would.
    package func send(_ text: String) throws { _ = try run(["send-keys", "-l", text]) }

    /// Changes the size.
    package func resize(columns: Int, rows: Int) throws {
        _ = try run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    private func run(_ arguments: [String]) throws -> LabProcess.Outcome {
        // Without -N it would start another server, outside the namespace, if the one inside is not ready yet.
        let words = ["-N", "-S", socket] + arguments
        return try LabProcess.run(Self.tmux, words, environment: Self.environment, within: .seconds(120))
    }

    private static let tmux = "/usr/bin/tmux"

    private static let environment = [
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color",
        "TZ": "UTC", "SHELL": "/bin/sh",
    ]
}

/// A folder that is removed with this object.
package final class TemporaryFolder {
    package let path: String

    /// Makes an empty folder.
    package init() throws {
        var template = Array("/tmp/netwatch-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names of the files in it.
    package var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
