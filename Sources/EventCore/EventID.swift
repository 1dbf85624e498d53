/// The identity of an event: the run of the service that published it, and its number in that run.
///
/// Written as `<run>.<sequence>`: 16 lowercase hexadecimal digits, a full stop, and a decimal number. Events of one run
/// are ordered by their numbers, which are counted from 1. Runs have no order.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    /// The run: 64 bits that the service drew at random when it started.
    package let run: UInt64
    /// The number of the event in its run; 0 stands for the time before the first event.
    package let sequence: UInt64

    /// Creates an id.
    package init(run: UInt64, sequence: UInt64) {
        self.run = run
        self.sequence = sequence
    }

    /// Reads an id.
    ///
    /// - Throws: ``EventIDError`` that says what is wrong and how an id is written.
    package init(parsing text: some StringProtocol) throws(EventIDError) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .init("the '.' is missing") }
        run = try Self.run(parts[0].utf8)
        sequence = try Self.sequence(parts[1].utf8)
    }

    /// The text, such as `00f3a2b1c4d5e6f7.42`.
    package var description: String {
        let digits = String(run, radix: 16)
        return String(repeating: "0", count: Self.runDigits - digits.utf8.count) + digits + ".\(sequence)"
    }

    private static let runDigits = 16

    private static func run(_ text: some Collection<UInt8>) throws(EventIDError) -> UInt64 {
        let isHexadecimal = text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard text.count == runDigits, isHexadecimal, let run = UInt64(String(decoding: text, as: UTF8.self), radix: 16)
        else { throw .init("the part before the '.' is not 16 lowercase hexadecimal digits") }
        return run
    }

    private static func sequence(_ text: some Collection<UInt8>) throws(EventIDError) -> UInt64 {
        let isDecimal = text.allSatisfy { (0x30...0x39).contains($0) }
        let hasLeadingZero = text.count > 1 && text.first == UInt8(ascii: "0")
        guard isDecimal, !hasLeadingZero, let sequence = UInt64(String(decoding: text, as: UTF8.self)) else {
            throw .init("the part after the '.' is not a decimal number of 64 bits")
        }
        return sequence
    }
}

/// Why a text is no event id.
package struct EventIDError: Error, Hashable, CustomStringConvertible {
    /// The problem, and how an id is written.
    package let description: String

    init(_ problem: String) { description = "\(problem); an id is '<run>.<number>', such as 00f3a2b1c4d5e6f7.42" }
}
