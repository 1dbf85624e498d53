/// A line with fields in braces: `{time} {status} {interface}`.
///
/// `{{` and `}}` stand for a brace; `\n`, `\t` and `\\` for a line feed, a tab and a backslash.
public struct LineTemplate: Sendable, Hashable {
    /// A part of it.
    public enum Piece: Sendable, Hashable {
        /// Text that stands for itself.
        case text(String)
        /// A value.
        case field(TemplateField)
    }

    /// What stands for a value that there is none of.
    public static let missing = "-"

    /// The parts, in their order.
    public let pieces: [Piece]

    /// Reads a template.
    ///
    /// - Throws: What is wrong with it, and where.
    public init(_ text: String) throws(TemplateError) {
        var reader = TemplateReader(text)
        pieces = try reader.read()
    }

    /// The line, without a line feed at its end; what a terminal might obey in a value is escaped.
    public func line(_ value: (TemplateField) -> String?) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let field): value(field).map(\.escapedForTerminal) ?? Self.missing
            }
        }.joined()
    }
}

/// What is wrong with a template.
public struct TemplateError: Error, Hashable, CustomStringConvertible {
    /// The place, counted in characters from 1.
    public let position: Int
    /// What is wrong there, and how to write it.
    public let problem: String

    /// One line.
    public var description: String { "at character \(position): \(problem)" }
}
