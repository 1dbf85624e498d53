import Foundation

/// A Markdown page of the repository: its fenced blocks, links, headings and tables.
struct MarkdownPage {
    /// A fenced block.
    struct Block {
        /// The word after the fence: `sh`, `swift`, or nothing.
        var language: String
        /// The lines between the fences.
        var lines: [String] = []

        /// The lines as a program or a script.
        var text: String { lines.map { $0 + "\n" }.joined() }
    }

    /// The path, relative to the repository's root.
    let path: String
    /// The fenced blocks, in order.
    private(set) var blocks: [Block] = []
    /// The lines outside fenced blocks.
    private(set) var prose: [String] = []

    /// Reads a page.
    ///
    /// - Parameter path: Its path, relative to the repository's root.
    /// - Throws: An error of the file system.
    init(_ path: String) throws {
        self.path = path
        var isInBlock = false
        for line in try Repository.read(path).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if !isInBlock { blocks.append(.init(language: String(line.dropFirst(3)))) }
                isInBlock.toggle()
            } else if isInBlock {
                blocks[blocks.count - 1].lines.append(String(line))
            } else {
                prose.append(String(line))
            }
        }
    }

    /// The blocks of one language, in order.
    func blocks(of language: String) -> [Block] { blocks.filter { $0.language == language } }

    /// The targets of links and pictures, in order.
    var links: [String] {
        prose.joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
    }

    /// The anchors of the headings, as GitHub makes them: lowercase, without punctuation, with `-` for spaces.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { heading in
                let text = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                let kept = text.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                return kept.replacing(" ", with: "-")
            }
        )
    }

    /// The tables: runs of consecutive lines that begin with `|`, each line as its cells.
    var tables: [[[String]]] {
        prose.split { !$0.hasPrefix("|") }.map { $0.map(Self.cells) }
    }

    /// The cells of a line of a table; a bar within a code span is no border.
    private static func cells(_ line: String) -> [String] {
        var cells = [""]
        var isCode = false
        for character in line.dropFirst() {
            if character == "`" { isCode.toggle() }
            if character == "|", !isCode { cells.append("") } else { cells[cells.count - 1].append(character) }
        }
        return cells.dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
