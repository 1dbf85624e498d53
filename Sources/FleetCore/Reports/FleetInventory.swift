import NetwatchCore

/// The machines that are expected to report.
package struct FleetInventory: Hashable, Sendable {
    /// A machine, and its labels.
    package struct Entry: Hashable, Sendable {
        package var key: NodeKey
        package var labels: [String: String]
    }

    package private(set) var entries: [Entry] = []

    /// Reads one machine a line: `GROUP/NODE`, or `NODE` for one of the group `default`, then labels as `NAME=VALUE`.
    ///
    /// A value may be in double quotes. Empty lines and what follows a `#` at the start of a word are left out.
    ///
    /// - Throws: ``FleetInventoryError`` with the line.
    package init(parsing text: String) throws(FleetInventoryError) {
        var lines: [NodeKey: Int] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = try Self.words(line, index + 1)
            guard let name = words.first else { continue }
            let key = try Self.key(name, index + 1)
            if let first = lines.updateValue(index + 1, forKey: key) {
                throw .init(line: index + 1, problem: "'\(key)' is in line \(first) already")
            }
            entries.append(.init(key: key, labels: try Self.labels(words.dropFirst(), index + 1)))
        }
    }

    private static func key(_ word: String, _ line: Int) throws(FleetInventoryError) -> NodeKey {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), !parts.contains("") else {
            throw .init(line: line, problem: "'\(word)' is not GROUP/NODE or NODE")
        }
        return .init(group: parts.count == 2 ? parts[0] : "default", name: parts[parts.count - 1])
    }

    private static func labels(_ words: ArraySlice<String>, _ line: Int) throws(FleetInventoryError) -> [String: String]
    {
        var labels: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .init(line: line, problem: "'\(word)' is not a label, NAME=VALUE")
            }
            labels[String(parts[0])] = String(parts[1])
        }
        return labels
    }

    /// The words of a line; quotation marks join them.
    private static func words(_ line: Substring, _ number: Int) throws(FleetInventoryError) -> [String] {
        var (words, word, isQuoted): ([String], String?, Bool) = ([], nil, false)
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted, "\t" where !isQuoted:
                if let ended = word { words.append(ended) }
                word = nil
            case "#" where word == nil: return words
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { throw .init(line: number, problem: "a quotation mark is not closed") }
        return words + (word.map { [$0] } ?? [])
    }
}

/// Why a text is no inventory.
package struct FleetInventoryError: Error, Hashable, CustomStringConvertible {
    /// The line, counted from 1.
    package let line: Int
    package let problem: String

    /// `line 3: …`, safe for a terminal.
    package var description: String { "line \(line): \(problem.escapedForTerminal)" }
}
