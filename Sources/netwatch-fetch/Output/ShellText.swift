import NetwatchCore

/// A command as somebody types it into a shell.
enum ShellText {
    /// The words, quoted where a shell (POSIX, 2.2) would make something else of them.
    ///
    /// Nothing in it ends the line or obeys a terminal: what might is written as `$'\x1b'`, which bash, zsh, ksh and the
    /// newest POSIX understand.
    static func command(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    static func quoted(_ word: String) -> String {
        guard !word.unicodeScalars.contains(where: \.isControl) else {
            return "$'" + word.utf8.map(escaped).joined() + "'"
        }
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        // By bytes, as the shell does it: of characters, a quote with an accent is none.
        let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._/:@%+=,".utf8.contains(byte)
        }
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): return "\\" + String(Unicode.Scalar(byte))
        case 0x20..<0x7F: return String(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
    }
}
