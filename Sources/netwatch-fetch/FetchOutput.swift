import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkClient

/// The destination of a response.
enum FetchOutput {
    /// stdout; binary bodies are not written to a terminal, unless the user insists.
    case standard(insists: Bool)
    /// A file.
    case file(String)

    /// Creates the output that `--output` names.
    init(_ file: String?) {
        guard let file, file != "-" else {
            self = .standard(insists: file == "-")
            return
        }
        self = .file(file)
    }

    /// Whether it is a file, so that progress is not visible otherwise.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// Returns the destination of a body that is written as it arrives; nil if the body must be inspected first.
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

    /// Checks whether a response that is held in memory first can be written later.
    ///
    /// - Throws: The error for the user.
    func check() throws(ToolError) {
        if case .file(let path) = self { try FetchFile.check(path) }
    }

    /// Writes a response: its head, if requested, and its body.
    ///
    /// A signal ends the process while it writes to stdout or in place. While it writes a file that is to replace another one, the
    /// signal is returned instead, and the other file stays.
    ///
    /// - Returns: The signal; nil if everything is written.
    func write(_ response: DataResponse, head: Bool, interruptedBy signals: FetchSignals) throws(ToolError) -> Int32? {
        let bytes = response.bytes
        switch self {
        case .file(let path):
            let file = try FetchFile(path)
            if !file.isReplaced { signals.descriptor.unblock() }
            let text = head ? HeadText.head(of: response, forTerminal: false) : ""
            return try file.write([Array(text.utf8), bytes], interruptedBy: signals.descriptor)
        case .standard(let insists):
            signals.descriptor.unblock()
            let isTerminal = !insists && isTerminal
            guard !isTerminal || !bytes.contains(0) else {
                throw .init(
                    "the response is binary, which is not for terminals; give -o FILE, or -o -",
                    curl: .writeError
                )
            }
            let text = head ? HeadText.head(of: response, forTerminal: isTerminal) : ""
            try Self.print([Array(text.utf8), bytes])
            return nil
        }
    }

    /// Returns the error for a body that could not be written; nil if it is not to be reported.
    func failure(_ error: HTTPError) -> ToolError? {
        let cause = SystemError(code: error.errno ?? EIO)
        switch self {
        // The reader has closed the pipe, because it has read enough.
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
            // The reader has closed the pipe, because it has read enough.
        } catch {
            guard case .failed(let cause) = error else { return }
            throw failed(cause)
        }
    }

    private static func failed(_ cause: SystemError) -> ToolError {
        .init("can't write stdout: \(cause); \(cause.writingRemedy)", curl: .writeError)
    }
}

/// The file that a response is written to: written next to its place, and renamed when it is complete.
///
/// A file that is not regular (a device, a pipe) is written in place, once there is something to write.
final class FetchFile {
    private let path: String
    private let part: Part?

    /// The partial file.
    private struct Part {
        var path: String
        var descriptor: Int32
    }

    private var isOpen = true

    /// Whether it is written next to its place, and not in place.
    var isReplaced: Bool { part != nil }

    /// Creates the partial file next to its place.
    ///
    /// - Throws: The error for the user.
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
            // A symbolic link is kept, and its target replaced.
            self.path = existing == nil ? path : Self.resolved(path)
            part = try Self.makePart(nextTo: self.path, like: existing)
        } catch {
            throw Self.unwritable(path, error)
        }
    }

    /// Checks whether a file can be created or written, so that an error is reported before anything is sent.
    ///
    /// The file may still change until the response arrives.
    ///
    /// - Throws: The error for the user.
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

    /// Writes all pieces, and moves the file to its final path.
    ///
    /// Otherwise the partial file is removed, and an existing file is unchanged.
    ///
    /// - Returns: The signal that came before the end; nil if everything is written.
    /// - Throws: The error for the user.
    func write(_ pieces: [[UInt8]], interruptedBy signals: SignalDescriptor) throws(ToolError) -> Int32? {
        defer { discard() }
        guard let part else {
            try writeDirectly(pieces)
            return nil
        }
        do throws(OutputFailure) {
            if let signal = try write(pieces, to: part, signals) { return signal }
            try finish(part)
            return nil
        } catch {
            throw Self.failed(path, error)
        }
    }

    /// Writes a part of each piece at a time, and between them looks for a signal.
    private func write(_ pieces: [[UInt8]], to part: Part, _ signals: SignalDescriptor) throws(OutputFailure) -> Int32?
    {
        let output = LineOutput(descriptor: part.descriptor)
        for piece in pieces {
            for start in stride(from: 0, to: piece.count, by: Self.partSize) {
                try output.write(Array(piece[start..<min(start + Self.partSize, piece.count)]))
                if let signal = signals.next() { return signal.number }
            }
        }
        return nil
    }

    private static let partSize = 1 << 20

    /// Removes the partial file, unless it has been renamed.
    private func discard() {
        guard isOpen, let part else { return }
        isOpen = false
        close(part.descriptor)
        unlink(part.path)
    }

    private func finish(_ part: Part) throws(OutputFailure) {
        isOpen = false
        // Some file systems report a full disk only here.
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
    /// stat(2); nil if there is no file.
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

    /// Returns the directory of a file, with a trailing slash; empty for the working directory.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
    }

    /// mkstemp(3), with the owner and the permissions of the existing file, or those that open(2) would give.
    private static func makePart(nextTo path: String, like existing: stat?) throws(SystemError) -> Part {
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
        return .init("can't write '\(name)': \(error); \(error.writingRemedy)", curl: .writeError)
    }
}
