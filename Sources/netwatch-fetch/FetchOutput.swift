import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkClient

/// Where a response goes.
enum FetchOutput {
    /// To stdout; a terminal gets no binary, unless the user insists.
    case standard(insists: Bool)
    /// To a file.
    case file(String)

    /// Makes the output that `--output` names.
    init(_ file: String?) {
        guard let file, file != "-" else {
            self = .standard(insists: file == "-")
            return
        }
        self = .file(file)
    }

    /// Whether it is a file, so that nothing else tells how far the response is.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// Where a body goes as it comes; nil where it has to be seen first.
    ///
    /// A body for a terminal must not be binary; a head is printed before its body.
    func stream(withHead: Bool) -> BodyOutput? {
        guard !withHead else { return nil }
        switch self {
        case .file(let path): return .file(path, isSynced: false)
        case .standard(let insists): return insists || !isTerminal ? .descriptor(STDOUT_FILENO) : nil
        }
    }

    private var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Looks whether what is held in memory first can be written then.
    ///
    /// - Throws: What to tell the user.
    func check() throws(ToolError) {
        if case .file(let path) = self { try FetchFile.check(path) }
    }

    /// Writes a response: its head, if that is wanted, and its body.
    func write(_ response: DataResponse, head: Bool, body: Bool) throws(ToolError) {
        let bytes = body ? response.bytes : []
        switch self {
        case .file(let path):
            try FetchFile(path).write([head ? Array(HeadText.head(of: response, forTerminal: false).utf8) : [], bytes])
        case .standard(let insists):
            let isTerminal = !insists && isTerminal
            guard !isTerminal || !bytes.contains(0) else {
                throw .init(
                    "the answer is binary, which is not for terminals; give -o FILE, or -o -",
                    curl: .writeError
                )
            }
            let text = head ? HeadText.head(of: response, forTerminal: isTerminal) : ""
            try Self.print([Array(text.utf8), bytes])
        }
    }

    /// Returns the error for a body that could not be written; nil if it is not to be reported.
    func failure(_ error: HTTPError) -> ToolError? {
        let cause = SystemError(code: error.errno ?? EIO)
        switch self {
        // The reader has what it wanted.
        case .standard: return cause.code == EPIPE ? nil : Self.failed(cause)
        case .file(let path):
            return error.processing == .neverSent
                ? FetchFile.unwritable(path, cause) : FetchFile.failed(path, .failed(cause))
        }
    }

    private static func print(_ pieces: [[UInt8]]) throws(ToolError) {
        do throws(OutputFailure) {
            for piece in pieces { try LineOutput.standard.write(piece) }
        } catch .closed {
            // The reader has what it wanted.
        } catch {
            guard case .failed(let cause) = error else { return }
            throw failed(cause)
        }
    }

    private static func failed(_ cause: SystemError) -> ToolError {
        .init("can't write stdout: \(cause); make room or name another output", curl: .writeError)
    }
}

/// The file that a response is written to: written next to its place, and renamed when it is complete.
///
/// A file that is not regular (a device, a pipe) is written in place, once there is something to write.
final class FetchFile {
    private let path: String
    private let part: Part?

    /// The file in the making.
    private struct Part {
        var path: String
        var descriptor: Int32
    }

    private var isOpen = true

    /// Creates the partial file next to its place.
    ///
    /// - Throws: What to tell the user.
    init(_ path: String) throws(ToolError) {
        do throws(SystemError) {
            let existing = try Self.status(path)
            let kind = (existing?.st_mode ?? S_IFREG) & S_IFMT
            guard kind != S_IFDIR else { throw .init(code: EISDIR) }
            guard kind == S_IFREG else {
                self.path = path
                part = nil
                return
            }
            if existing != nil { _ = try retryingOnInterrupt { access(path, W_OK) } }
            // A link stays one: what it leads to is replaced.
            self.path = existing == nil ? path : Self.resolved(path)
            part = try Self.makePart(beside: self.path, like: existing)
        } catch {
            throw Self.unwritable(path, error)
        }
    }

    /// Looks whether a file could be made or written, so that it is told before anything is sent what cannot be.
    ///
    /// The file may still change until the response arrives.
    ///
    /// - Throws: What to tell the user.
    static func check(_ path: String) throws(ToolError) {
        do throws(SystemError) {
            let existing = try status(path)
            let kind = (existing?.st_mode ?? S_IFREG) & S_IFMT
            guard kind != S_IFDIR else { throw .init(code: EISDIR) }
            if existing != nil { _ = try retryingOnInterrupt { access(path, W_OK) } }
            guard kind == S_IFREG else { return }
            let folder = folder(of: existing == nil ? path : resolved(path))
            _ = try retryingOnInterrupt { access(folder.isEmpty ? "." : folder, W_OK | X_OK) }
        } catch {
            throw unwritable(path, error)
        }
    }

    deinit { discard() }

    /// Writes all, and puts the file in its place.
    ///
    /// - Throws: What to tell the user; the part is gone then, and what was in its place is still there.
    func write(_ pieces: [[UInt8]]) throws(ToolError) {
        defer { discard() }
        guard let part else { return try writeDirectly(pieces) }
        do throws(OutputFailure) {
            for piece in pieces { try LineOutput(descriptor: part.descriptor).write(piece) }
            try finish(part)
        } catch {
            throw Self.failed(path, error)
        }
    }

    /// Removes the part, unless it has found its place.
    private func discard() {
        guard isOpen, let part else { return }
        isOpen = false
        close(part.descriptor)
        unlink(part.path)
    }

    private func finish(_ part: Part) throws(OutputFailure) {
        isOpen = false
        // Some file systems tell of a full disk only here.
        guard close(part.descriptor) == 0, rename(part.path, path) == 0 else {
            let error = SystemError.last
            unlink(part.path)
            throw .failed(error)
        }
    }

    private func writeDirectly(_ pieces: [[UInt8]]) throws(ToolError) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try retryingOnInterrupt { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) }
        } catch {
            throw Self.unwritable(path, error)
        }
        defer { close(descriptor) }
        do throws(OutputFailure) {
            for piece in pieces { try LineOutput(descriptor: descriptor).write(piece) }
        } catch {
            throw Self.failed(path, error)
        }
    }
}

extension FetchFile {
    /// stat(2); nil where there is nothing.
    private static func status(_ path: String) throws(SystemError) -> stat? {
        var status = stat()
        do throws(SystemError) {
            _ = try retryingOnInterrupt { stat(path, &status) }
            return status
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// realpath(3).
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Where a file is, with a slash at its end; empty for the working directory.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
    }

    /// mkstemp(3), with the owner and the permissions of what is there, or those that open(2) would give.
    private static func makePart(beside path: String, like existing: stat?) throws(SystemError) -> Part {
        var template = Array("\(folder(of: path)).netwatch-XXXXXX".utf8CString)
        let descriptor = try retryingOnInterrupt { mkstemp(&template) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if let existing {
            // Only root can change the owner of a file; for other users it stays theirs.
            _ = fchown(descriptor, existing.st_uid, existing.st_gid)
            fchmod(descriptor, existing.st_mode & 0o777)
        } else {
            fchmod(descriptor, 0o666 & ~CreationMask.current)
        }
        let name = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return .init(path: name, descriptor: descriptor)
    }

    /// Returns the error for a file that cannot be created.
    static func unwritable(_ path: String, _ error: SystemError) -> ToolError {
        .init(
            "can't write '\(path.escapedForTerminal)': \(error); name a file in a directory of yours",
            curl: .writeError
        )
    }

    /// Returns the error for a file that cannot be completed.
    static func failed(_ path: String, _ failure: OutputFailure) -> ToolError {
        let error: SystemError
        switch failure {
        case .closed: error = .init(code: EPIPE)
        case .failed(let cause): error = cause
        }
        let name = path.escapedForTerminal
        return .init("can't write '\(name)': \(error); make room or name another output", curl: .writeError)
    }
}
