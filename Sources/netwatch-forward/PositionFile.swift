import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore

/// The file with the last event that was acknowledged with all before it: the only state of the forwarder.
struct PositionFile: Sendable {
    /// The path.
    let path: String

    /// The file in the directory that systemd has made for the service, or in that of the user's state.
    static var usualPath: String {
        let value = { (name: String) in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
        if let folder = value("STATE_DIRECTORY") { return folder + "/position" }
        return (value("XDG_STATE_HOME") ?? (value("HOME") ?? "") + "/.local/state") + "/netwatch/forward-position"
    }

    /// The id of the event; nil if there is no file yet.
    ///
    /// - Throws: The error for the user if the file can't be read, or has something else.
    func read() throws(ToolError) -> String? {
        let name = path.escapedForTerminal
        do throws(SystemError) {
            let bytes = try FileContents.read(path, atMost: 256).filter { $0 != UInt8(ascii: "\n") }
            let isID = !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E).contains($0) }
            guard isID else { throw .init(code: EILSEQ) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            if error.code == ENOENT { return nil }
            guard error.code == EILSEQ else {
                throw .init("cannot read '\(name)': \(error); name another --state", exit: .outputFailure)
            }
            throw .init("'\(name)' has no event's id; remove it to begin with the current state", exit: .badData)
        }
    }

    /// Replaces the file in one step; after a power failure it has the old or the new id.
    func write(_ id: String) throws(ToolError) {
        do throws(SystemError) {
            try DurableFile.replace(path, with: id + "\n")
        } catch {
            throw .init(
                "cannot write '\(path.escapedForTerminal)': \(error); name another --state",
                exit: .outputFailure
            )
        }
    }

    /// Throws the error for the user if the file can't be created.
    func check() throws(ToolError) {
        do throws(SystemError) {
            _ = try Descriptor("open") { open(path + ".new", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
            unlink(path + ".new")
        } catch {
            throw .init(
                "cannot write '\(path.escapedForTerminal)': \(error); name another --state",
                exit: .outputFailure
            )
        }
    }

    /// Creates the folders above the file.
    func makeFolders() {
        var parent = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/").dropLast() {
            parent += "/\(name)"
            mkdir(parent, 0o700)
        }
    }
}
