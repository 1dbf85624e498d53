import NetwatchCore

/// Markup: literals stand for themselves, and text that is interpolated is escaped.
///
/// So nothing that the kernel, an access point or a client names becomes markup by mistake.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Joins parts without anything between them.
    init(_ parts: some Sequence<HTML>) { text = parts.map(\.text).joined() }

    /// Takes a text of this program that is no markup of HTML, such as a style sheet, as it is.
    init(verbatim text: String) { self.text = text }

    /// Collects the parts.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += value.escapedForMarkup }

        mutating func appendInterpolation(_ value: Int) { text += String(value) }

        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        mutating func appendInterpolation(_ markup: HTML?) { text += markup?.text ?? "" }
    }
}
