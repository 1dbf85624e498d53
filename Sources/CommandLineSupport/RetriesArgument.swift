import NetwatchCore

/// Reads how often a command may be run again.
package enum RetriesArgument {
    /// Reads a number.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> UInt {
        guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit) else {
            throw .init("it is not a number; write a whole number such as 3, or 0 for none")
        }
        guard let number = UInt(text) else { throw .init("it is too large; write a whole number such as 3") }
        return number
    }
}
