/// The parsed README.
struct ReadmeText {
    /// A fenced block.
    struct Block {
        /// The word after the fence: `sh`, `swift`.
        var language: String
        /// Its lines.
        var lines: [String] = []
    }

    /// The fenced blocks, in their order.
    private(set) var blocks: [Block] = []
    /// The first cells of tables' rows, by the first cell of the table's head.
    private(set) var rows: [String: [String]] = [:]
    /// The text outside blocks.
    private(set) var prose = ""

    /// Reads the README.
    init() throws {
        var isInBlock = false
        var table: String?
        for line in try Repository.read("README.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if !isInBlock { blocks.append(.init(language: String(line.dropFirst(3)))) }
                isInBlock.toggle()
            } else if isInBlock {
                blocks[blocks.count - 1].lines.append(String(line))
            } else {
                prose += line + "\n"
                table = note(row: line, of: table)
            }
        }
    }

    /// Records a table's row, and returns the table that it belongs to, if it is one.
    private mutating func note(row line: Substring, of table: String?) -> String? {
        guard line.hasPrefix("|") else { return nil }
        // A bar within a code span is no border.
        let cell = line.dropFirst().prefixMatch(of: /\s*((?:`[^`]*`|[^|`])*?)\s*\|/).map { String($0.1) } ?? ""
        guard let table else { return cell }
        if !cell.allSatisfy({ $0 == "-" }) { rows[table, default: []].append(cell) }
        return table
    }

    /// The code spans outside of blocks.
    var spans: [String] { prose.matches(of: /`([^`]+)`/).map { String($0.1).replacing("\n", with: " ") } }

    /// The targets of links.
    var links: [String] { prose.matches(of: /\]\(([^)]+)\)/).map { String($0.1) } }
}
