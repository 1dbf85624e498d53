import CommandLineSupport
import NetwatchCore

/// Reads sizes: a number of bytes, with `K`, `M`, `G` or `T` for 1024 and its powers.
enum SizeArgument {
    /// The largest size of what is held in memory.
    static let largestInMemory = 1 << 30

    /// Reads a size.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Int {
        let digits = text.prefix { $0.isASCIIDigit }
        let unit = try unit(text[digits.endIndex...])
        guard !digits.isEmpty else { throw .init("it does not begin with a number; \(howTo)") }
        guard let number = Int(digits), number <= .max / unit else {
            throw .init("it is too large; leave it out where there is no bound")
        }
        return number * unit
    }

    private static func unit(_ name: Substring) throws(ArgumentError) -> Int {
        switch name {
        case "": return 1
        case "K", "k": return 1 << 10
        case "M", "m": return 1 << 20
        case "G", "g": return 1 << 30
        case "T", "t": return 1 << 40
        default: throw .init("'\(name.escapedForTerminal)' is not a unit (K, M, G, T); \(howTo)")
        }
    }

    private static let howTo = "write a number of bytes, such as 500000, 64M or 1G"
}
