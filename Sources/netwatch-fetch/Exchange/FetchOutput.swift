import CommandLineSupport
import Glibc
import NetworkClient

/// Where an answer goes.
enum FetchOutput {
    /// To stdout; a terminal gets no binary, unless the user insists.
    case standard(insists: Bool)
    /// To a file.
    case file(String)

    /// What `--output` names.
    init(_ file: String?) {
        guard let file, file != "-" else {
            self = .standard(insists: file == "-")
            return
        }
        self = .file(file)
    }

    /// Whether it is a file, so that nothing else tells how far the answer is.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// Where a body goes as it comes; nil where it has to be seen first.
    ///
    /// What a terminal is to show must not be binary; a head stands before its body.
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

    /// Writes an answer: its head, if that is wanted, and its body.
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

    /// What to tell of an error in writing a body as it came; nil if that is nothing to tell of.
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
