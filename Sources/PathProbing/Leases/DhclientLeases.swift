import ReachabilityCore

extension DHCPLease {
    /// Decodes the file of ISC's dhclient (dhclient.leases(5)): the newest lease of an interface, which is the last.
    ///
    /// The file grows with each renewal; its end is enough, even if that begins within a lease.
    ///
    /// - Parameters:
    ///   - text: The content, or its end.
    ///   - interface: The interface's name.
    package init?(dhclient text: [UInt8], interface: String) {
        var scanner = DhclientScanner(text.suffix(Self.maximumLength))
        var newest: Self?
        while let statements = scanner.nextLease() {
            guard statements.first(where: { $0.first == "interface" })?.last == interface else { continue }
            newest = Self(dhclient: statements) ?? newest
        }
        guard let newest else { return nil }
        self = newest
    }

    private init?(dhclient statements: [[String]]) {
        let fixed = statements.first { $0.first == "fixed-address" }?.last
        guard let address = fixed.flatMap({ IPAddress($0) }), address.family == .ipv4 else { return nil }
        let expiry = statements.first { $0.first == "expire" }.map { $0.dropFirst() } ?? []
        guard let end = Self.end(dhclient: Array(expiry)) else { return nil }
        let portalURL = statements.lazy.compactMap(Self.portalURL).first
        self.init(address: address, end: end == .max ? nil : end, portalURL: portalURL)
    }

    /// The names of option 114: dhclient's own, one that administrators give it, and that of an unknown option.
    private static let portalNames = ["default-url", "captive-portal", "unknown-\(portalOption)"]

    private static func portalURL(_ statement: [String]) -> String? {
        guard statement.count == 3, statement[0] == "option", portalNames.contains(statement[1]) else { return nil }
        return hexadecimal(statement[2]) ?? statement[2]
    }

    /// Decodes text in the form `68:74:74:70:73`, which unknown options have; nil for any other.
    private static func hexadecimal(_ text: String) -> String? {
        let digits = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = digits.compactMap { $0.count <= 2 ? UInt8($0, radix: 16) : nil }
        guard bytes.count > 1, bytes.count == digits.count else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Decodes a time: `never`, `epoch 1795652183`, or a weekday, a date and a time in UTC.
    ///
    /// Returns the maximum for never, and nil for what is no time.
    private static func end(dhclient words: [String]) -> Int64? {
        if words == ["never"] { return .max }
        if words.count >= 2, words[0] == "epoch" { return Int64(words[1]) }
        guard words.count == 3 else { return nil }
        let date = words[1].split(separator: "/").compactMap { Int64($0) }
        let time = words[2].split(separator: ":").compactMap { Int64($0) }
        guard date.count == 3, time.count == 3, 1970...9999 ~= date[0], 1...12 ~= date[1], 1...31 ~= date[2],
            time.allSatisfy({ 0...60 ~= $0 })
        else {
            return nil
        }
        let seconds = time[0] * 3_600 + time[1] * 60 + time[2]
        return days(since1970: date[0], date[1], date[2]) * 86_400 + seconds
    }

    /// Counts the days in years that begin in March, so that leap days come last.
    private static func days(since1970 year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}

/// Splits the text of dhclient.leases(5) into leases, statements and words.
private struct DhclientScanner {
    private enum Token: Equatable {
        case word(String)
        case mark(UInt8)
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Returns the statements of the next lease; nil at the end of the text, also within a lease.
    mutating func nextLease() -> [[String]]? {
        var previous: Token?
        while let token = nextToken() {
            if token == .mark(UInt8(ascii: "{")), previous == .word("lease") { return statements() }
            previous = token
        }
        return nil
    }

    private mutating func statements() -> [[String]]? {
        var statements: [[String]] = []
        var words: [String] = []
        while let token = nextToken() {
            switch token {
            case .word(let word): words.append(word)
            case .mark(UInt8(ascii: "}")): return statements
            case .mark:
                statements.append(words)
                words = []
            }
        }
        return nil
    }

    private mutating func nextToken() -> Token? {
        skipSpace()
        guard position < bytes.endIndex else { return nil }
        let byte = bytes[position]
        if Self.marks.contains(byte) {
            position += 1
            return .mark(byte)
        }
        if byte == UInt8(ascii: "\"") { return quoted() }
        let word = bytes[position...].prefix { $0 > 0x20 && !Self.marks.contains($0) }
        position = word.endIndex
        return .word(String(decoding: word, as: UTF8.self))
    }

    private static let marks = Array("{};".utf8)

    /// Skips white space, and comments up to the ends of their lines.
    private mutating func skipSpace() {
        while position < bytes.endIndex {
            if bytes[position] == UInt8(ascii: "#") {
                position = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            } else if bytes[position] <= 0x20 {
                position += 1
            } else {
                return
            }
        }
    }

    /// Decodes a string: `\"`, `\\`, and three octal digits for a byte that can't be printed; nil if it has no end.
    private mutating func quoted() -> Token? {
        var content: [UInt8] = []
        position += 1
        while position < bytes.endIndex, bytes[position] != UInt8(ascii: "\"") {
            content.append(bytes[position] == UInt8(ascii: "\\") ? escaped() : bytes[position])
            position += 1
        }
        guard position < bytes.endIndex else { return nil }
        position += 1
        return .word(String(decoding: content, as: UTF8.self))
    }

    /// Decodes the escape at the position, and moves to its last byte.
    private mutating func escaped() -> UInt8 {
        let octal = bytes[(position + 1)...].prefix(3)
        if octal.count == 3, let byte = UInt8(String(decoding: octal, as: UTF8.self), radix: 8) {
            position += 3
            return byte
        }
        position = min(position + 1, bytes.endIndex - 1)
        return bytes[position]
    }
}
