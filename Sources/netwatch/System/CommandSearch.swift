import Glibc

/// Finds a command's file in `PATH`, as execvp(3) does.
enum CommandSearch {
    /// The file, or nil if there is none that may be executed.
    static func find(_ command: String) -> String? {
        guard !command.contains("/") else { return command }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        return candidates(for: command, path: path).first { access($0, X_OK) == 0 }
    }

    /// The files to try, in order; an empty entry of the path is the current directory.
    static func candidates(for command: String, path: String) -> [String] {
        path.split(separator: ":", omittingEmptySubsequences: false).map { ($0.isEmpty ? "." : $0) + "/" + command }
    }
}
