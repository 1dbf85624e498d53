import CommandLineSupport
import NetwatchCore

/// Where the bytes of a request's body come from.
enum BodySource: Hashable {
    /// The argument itself, in UTF-8.
    case text(String)
    /// A file.
    case file(String)
    /// stdin.
    case standardInput
}

/// Reads `TEXT|@FILE|-`, as `--data` and `--json` take it.
enum BodyArgument {
    /// Reads where a body comes from.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> BodySource {
        guard text != "-", text != "@-" else { return .standardInput }
        guard text.hasPrefix("@") else { return .text(text) }
        guard text != "@" else { throw .init("the file's name after '@' is missing; write @FILE, or - for stdin") }
        return .file(String(text.dropFirst()))
    }
}

extension BodySource {
    /// The largest body that is sent: it is held in memory.
    static let largest = 1 << 30

    /// The bytes.
    ///
    /// - Throws: What to tell the user.
    func bytes() throws(ToolError) -> [UInt8] {
        do throws(SystemError) {
            switch self {
            case .text(let text): return Array(text.utf8)
            case .file(let path): return try FileContents.read(path, atMost: Self.largest)
            case .standardInput: return try FileContents.readStandardInput(atMost: Self.largest)
            }
        } catch {
            throw .init(
                "can't read \(name): \(error); give a file that can be read, of at most 1 GiB",
                curl: .readError
            )
        }
    }

    /// What errors call it.
    var name: String {
        switch self {
        case .text: "the text"
        case .file(let path): "'\(path.escapedForTerminal)'"
        case .standardInput: "stdin"
        }
    }
}
