import CommandLineSupport
import NetworkClient

/// One `--form`: a field, or a file.
struct FormArgument: Hashable {
    /// What is in the part.
    enum Content: Hashable {
        /// The argument itself.
        case text(String)
        /// The file at a path, with its name.
        case file(String)
    }

    /// The field's name.
    var name: String
    /// What it holds.
    var content: Content

    /// Reads `NAME=VALUE` or `NAME=@FILE`.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
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
