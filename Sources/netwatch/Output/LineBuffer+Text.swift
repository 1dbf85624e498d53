import NetwatchCore
import ReachabilityCore

extension LineBuffer {
    /// Appends a text's UTF-8 as it is.
    mutating func append(text: String) {
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) != nil { return }
        for byte in text.utf8 { append(byte) }
    }

    /// Appends a text with everything escaped that a terminal might obey (``Swift/StringProtocol/escapedForTerminal``).
    mutating func append(escapedForTerminal text: String) {
        let start = count
        append(text: text)
        // What is not ASCII may be a control too.
        if contains(from: start, where: { !(0x20..<0x7F ~= $0) }) { replace(from: start, escapedForTerminal: text) }
    }

    /// Apart, because hardly a name needs it, and what it needs should not be paid for each name.
    @inline(never)
    private mutating func replace(from start: Int, escapedForTerminal text: String) {
        remove(from: start)
        append(text: text.escapedForTerminal)
    }

    /// Appends an address's text.
    mutating func append(_ address: IPAddress) {
        append(atMost: IPAddress.maximumTextLength) { address.write(to: &$0) }
    }

    /// Appends a whole number in decimal.
    mutating func append(_ number: Int32) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(UInt64(number.magnitude))
    }

    /// Appends a whole number in decimal.
    mutating func append(_ number: UInt64) {
        if number < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        var width = 1
        var rest = number / 10
        while rest > 0 {
            rest /= 10
            width += 1
        }
        append(number, width: width)
    }
}
