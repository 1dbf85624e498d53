import NetwatchCore
package import ReachabilityCore

/// The bytes of a line in the making, in memory that the next line uses again.
///
/// A line is written while the network has just changed and the processor's caches are cold. An array asks at each
/// byte whether it is shared; this is never shared, so that a piece of a line costs a comparison and a copy.
package struct LineBuffer: ~Copyable {
    /// How many bytes were appended.
    package private(set) var count = 0
    private var capacity: Int
    private var memory: UnsafeMutablePointer<UInt8>

    /// Reserves room for a usual line; a longer one gets more.
    package init(capacity: Int = 1024) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
    }

    deinit { memory.deallocate() }

    /// Forgets the bytes from a position on, and keeps their memory.
    package mutating func remove(from start: Int = 0) { count = min(count, max(0, start)) }

    /// Whether any of the bytes from a position on is such a one.
    @inline(__always)
    package func contains(from start: Int, where isSuch: (UInt8) -> Bool) -> Bool {
        for position in max(0, start)..<max(0, start, count) where isSuch(memory[position]) { return true }
        return false
    }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        memory[count] = byte
        count += 1
    }

    /// Appends a literal, which the program has in its own image.
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends bytes, which must not be this buffer's own.
    @inline(__always)
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (memory + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    /// Appends all that another buffer has.
    @inline(__always)
    package mutating func append(_ other: borrowing LineBuffer) {
        append(UnsafeBufferPointer(start: other.memory, count: other.count))
    }

    /// Appends some of its own bytes once more.
    package mutating func append(again range: Range<Int>) {
        let range = range.clamped(to: 0..<count)
        reserve(range.count)
        (memory + count).update(from: memory + range.lowerBound, count: range.count)
        count += range.count
    }

    /// Appends what the body writes into a span with so much room.
    package mutating func append(atMost room: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        reserve(room)
        let rest = UnsafeMutableBufferPointer(start: memory + count, count: room)
        var span = OutputSpan(buffer: rest, initializedCount: 0)
        write(&span)
        count += span.finalize(for: rest)
    }

    /// Appends the last decimal digits of a number, with zeros before them where it has fewer.
    @inline(__always)
    package mutating func append(_ number: UInt64, width: Int) {
        reserve(width)
        var rest = number
        for position in stride(from: count + width - 1, through: count, by: -1) {
            memory[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += width
    }

    /// Lets the body read the bytes.
    package func withBytes<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(.init(start: memory, count: count))
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    package var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let newCapacity = max(capacity * 2, count + more)
        let newMemory = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        newMemory.update(from: memory, count: count)
        memory.deallocate()
        (memory, capacity) = (newMemory, newCapacity)
    }
}

extension LineBuffer {
    /// Appends a text's UTF-8 as it is.
    package mutating func append(text: String) {
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) != nil { return }
        for byte in text.utf8 { append(byte) }
    }

    /// Appends a text with everything escaped that a terminal might obey (``Swift/StringProtocol/escapedForTerminal``).
    package mutating func append(escapedForTerminal text: String) {
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
    package mutating func append(_ address: IPAddress) {
        append(atMost: IPAddress.maximumTextLength) { address.write(to: &$0) }
    }

    /// Appends a whole number in decimal.
    package mutating func append(_ number: Int32) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(UInt64(number.magnitude))
    }

    /// Appends a whole number in decimal.
    package mutating func append(_ number: UInt64) {
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

extension LineBuffer {
    /// Appends a JSON string (RFC 8259), quotation marks and all.
    package mutating func append(quotedForJSON text: String) {
        append(UInt8(ascii: "\""))
        let start = count
        append(text: text)
        if contains(from: start, where: Self.mustEscape) { replace(from: start, escapedForJSON: text) }
        append(UInt8(ascii: "\""))
    }

    /// The same for what strangers chose: also controls beyond ASCII are escaped, which a terminal might obey.
    package mutating func append(quotedForJSONAndTerminal text: String) {
        append(UInt8(ascii: "\""))
        append(text: text.escapedForJSONAndTerminal)
        append(UInt8(ascii: "\""))
    }

    /// Apart, because hardly a name needs it, and what it needs should not be paid for each name.
    @inline(never)
    private mutating func replace(from start: Int, escapedForJSON text: String) {
        remove(from: start)
        append(text: text.escapedForJSON)
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
