import CommandLineSupport
import LinuxSystem
import NetwatchCore
import NetworkClient

/// The source of a request body.
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
    /// Parses the source of a body.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> BodySource {
        guard text != "-", text != "@-" else { return .standardInput }
        guard text.hasPrefix("@") else { return .text(text) }
        guard text != "@" else { throw .init("the file's name after '@' is missing; write @FILE, or - for stdin") }
        return .file(String(text.dropFirst()))
    }
}

extension BodySource {
    /// The maximum size of a body in bytes, since it is held in memory.
    static let largest = 1 << 30

    /// Reads the bytes.
    ///
    /// - Throws: The error for the user.
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

    /// The name of the source, for errors.
    var name: String {
        switch self {
        case .text: "the text"
        case .file(let path): "'\(path.escapedForTerminal)'"
        case .standardInput: "stdin"
        }
    }
}

/// The value of `--form`: a field or a file.
struct FormArgument: Hashable {
    /// The contents of a part.
    enum Content: Hashable {
        /// The argument itself.
        case text(String)
        /// The file at a path, with its name.
        case file(String)
    }

    /// The field's name.
    var name: String
    /// The contents.
    var content: Content

    /// Parses `NAME=VALUE` or `NAME=@FILE`.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        guard let mark = text.firstIndex(of: "=") else { throw .init("the '=' is missing; \(howTo)") }
        let name = String(text[..<mark])
        guard !name.isEmpty else { throw .init("the name is missing; \(howTo)") }
        let value = text[text.index(after: mark)...]
        guard value.hasPrefix("@") else { return .init(name: name, content: .text(String(value))) }
        guard value != "@" else { throw .init("the file's name after '@' is missing; \(howTo)") }
        return .init(name: name, content: .file(String(value.dropFirst())))
    }

    private static let howTo = "write name=value, or name=@FILE for a file"
}

extension FormArgument {
    /// The part of the form.
    var part: MultipartPart {
        switch content {
        case .text(let text): .text(text, name: name)
        case .file(let path): .file(path, name: name)
        }
    }
}

/// The URL that a file is uploaded to.
enum UploadTarget {
    /// Returns the URL, with the file's name appended if it names a directory, as in curl: it ends with a slash, or has
    /// no path at all.
    static func url(_ url: String, uploading file: String) -> String {
        guard let mark = url.firstRange(of: "://"), !url.contains(where: { "?#".contains($0) }) else { return url }
        let hasPath = url[mark.upperBound...].utf8.contains(UInt8(ascii: "/"))
        guard !hasPath || url.hasSuffix("/") else { return url }
        // By bytes, as in the kernel: a slash with a combining accent is a different Character.
        let name = file.utf8.split(separator: UInt8(ascii: "/")).last ?? file.utf8[...]
        return url + (hasPath ? "" : "/") + name.map(escaped).joined()
    }

    /// Returns a percent-encoded byte, or the character itself if it is unreserved (RFC 3986, 2.3).
    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            return String(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
    }
}
