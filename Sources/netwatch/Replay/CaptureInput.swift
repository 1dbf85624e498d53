import Glibc

/// Reads a whole capture, from a file or from stdin.
enum CaptureInput {
    /// The file's bytes; `-` is stdin.
    ///
    /// - Throws: What to tell the user.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let name = path.escapedForTerminal
        do throws(SystemError) {
            guard path != "-" else { return try contents(of: STDIN_FILENO) }
            let descriptor = try retryingOnInterrupt { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
            defer { close(descriptor) }
            return try contents(of: descriptor)
        } catch {
            let what = path == "-" ? "stdin" : "'\(name)'"
            throw .init("can't read \(what): \(error); give a capture that 'netwatch record' made", exit: .badData)
        }
    }

    private static func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try retryingOnInterrupt { Glibc.read(descriptor, &buffer, buffer.count) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
