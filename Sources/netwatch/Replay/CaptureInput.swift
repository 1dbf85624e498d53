import CommandLineSupport
import NetwatchCore

/// Reads a whole capture, from a file or from stdin.
enum CaptureInput {
    /// The file's bytes; `-` is stdin.
    ///
    /// - Throws: What to tell the user.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let name = path.escapedForTerminal
        do throws(SystemError) {
            return path == "-" ? try FileContents.readStandardInput() : try FileContents.read(path)
        } catch {
            let what = path == "-" ? "stdin" : "'\(name)'"
            throw .init("can't read \(what): \(error); give a capture that 'netwatch record' made", exit: .badData)
        }
    }
}
