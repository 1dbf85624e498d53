import Glibc
import NetworkClient

/// Where an answer goes.
enum FetchOutput {
    /// To stdout; a terminal gets no binary, unless the user insists.
    case standard(insists: Bool)
    /// To a file.
    case file(FetchFile)

    /// Opens what `--output` names.
    static func open(_ file: String?) throws(ToolError) -> Self {
        guard let file, file != "-" else { return .standard(insists: file == "-") }
        return .file(try FetchFile(file))
    }

    /// Whether it is a file, so that nothing else tells how far the answer is.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// Writes an answer: its head, if that is wanted, and its body.
    func write(_ response: DataResponse, head: Bool, body: Bool) throws(ToolError) {
        let bytes = body ? response.bytes : []
        switch self {
        case .file(let file):
            try file.write([head ? Array(HeadText.head(of: response, forTerminal: false).utf8) : [], bytes])
        case .standard(let insists):
            let isTerminal = !insists && isatty(STDOUT_FILENO) == 1
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

    /// Removes what is not whole.
    func discard() {
        if case .file(let file) = self { file.discard() }
    }

    private static func print(_ pieces: [[UInt8]]) throws(ToolError) {
        do throws(OutputFailure) {
            for piece in pieces { try LineOutput.standard.write(piece) }
        } catch .closed {
            // The reader has what it wanted.
        } catch {
            guard case .failed(let cause) = error else { return }
            throw .init("can't write stdout: \(cause); make room or name another output", curl: .writeError)
        }
    }
}
