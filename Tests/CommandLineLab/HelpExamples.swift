import NetworkLab

/// The examples with which the help of a command begins.
package struct HelpExamples {
    /// The lines: what an example does, then its line of shell, in turn.
    package let lines: [String]

    /// Reads the examples of a command's discussion; nil if it does not begin with them.
    package init?(discussion: String) {
        let all = discussion.split(separator: "\n", omittingEmptySubsequences: false)
        guard all.first == "EXAMPLES:", let end = all.firstIndex(of: "") else { return nil }
        lines = all[1..<end].map(String.init)
    }

    /// The faults in the form of the lines, a sentence each.
    package var faults: [String] {
        let count = lines.count >= 4 && lines.count % 2 == 0 ? [] : ["there are \(lines.count) lines"]
        return count
            + lines.enumerated().compactMap { number, line in
                // As they are, they fit a terminal and a page.
                guard line.count < 80, line.allSatisfy(\.isASCII) else { return "too long or not ASCII: \(line)" }
                let isPurpose = number % 2 == 0
                guard line.hasPrefix(isPurpose ? "  # " : "  "), line.hasPrefix("  #") == isPurpose else {
                    return "not indented as it should be: \(line)"
                }
                let isSentence = line.dropFirst(4).first?.isUppercase == true && line.last != "."
                return isPurpose == isSentence && (isPurpose || line.contains("netwatch")) ? nil : "no example: \(line)"
            }
    }

    /// The arguments of each call of the tool in the examples, by line.
    package func calls() throws -> [(line: String, calls: [[String]])] {
        try lines.filter { !$0.hasPrefix("  #") }.map { ($0, try Self.calls(in: $0)) }
    }

    /// The arguments of each call of the tool in a line of shell, as a shell reads them.
    ///
    /// Functions stand for the tool and for what may stand before it; nothing else is found, so nothing else happens.
    private static func calls(in line: String) throws -> [[String]] {
        let file = try TemporaryFile()
        let script = """
            netwatch() { { printf '%s\\n' call; for word; do printf '%s\\n' "-$word"; done; } >>"$calls"; }
            sudo() { "$@"; }
            timeout() { shift; "$@"; }
            cd / && PATH= && set -f
            \(line.replacing(#/>[a-z.\/]+/#, with: ""))
            :
            """
        let outcome = try LabProcess.run("/bin/sh", ["-c", script], environment: ["calls": file.path])
        guard outcome.code == 0, !outcome.errors.contains("yntax") else {
            throw LabError(line, errno: 0, detail: "\(outcome)")
        }
        let words = String(decoding: try Repository.bytes(of: file.path), as: UTF8.self).split(separator: "\n")
        return words.split(separator: "call", omittingEmptySubsequences: false).dropFirst().map { words in
            words.map { String($0.dropFirst()) }
        }
    }
}
