/// Parses `WWW-Authenticate`, `Proxy-Authenticate` and similar fields (RFC 9110, 11.6.1).
///
/// A comma may separate challenges as well as the parameters of one challenge: a name followed by `=` is a parameter,
/// any other name starts the next challenge. Invalid challenges are skipped.
package struct ChallengeParser {
    /// The maximum number of challenges that are read from a response.
    private static let limit = 32
    /// The maximum number of parameters of a challenge: each is compared with all before, and no scheme has as many.
    private static let parameterLimit = 64

    private var challenges: [AuthenticationChallenge] = []
    private var scheme: String?
    private var token68: String?
    private var parameters: [AuthenticationChallenge.Parameter] = []
    private var isBroken = false

    /// Returns the challenges of a response in order.
    ///
    /// - Parameter values: The values of all fields of the same name.
    /// - Returns: The valid challenges.
    package static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        var parser = Self()
        for value in values { parser.read(value) }
        return Array(parser.challenges.prefix(limit))
    }

    /// Returns the parameters of a field that consists only of parameters, such as `Authentication-Info`.
    package static func parameters(in values: [String]) -> [String: String] {
        var parser = Self()
        parser.scheme = ""
        for value in values {
            var scanner = FieldScanner(value)
            parser.readElements(&scanner)
        }
        return Dictionary(parser.parameters.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private mutating func read(_ value: String) {
        var scanner = FieldScanner(value)
        readElements(&scanner)
        finish()
    }

    private mutating func readElements(_ scanner: inout FieldScanner) {
        scanner.skipSeparators()
        while !scanner.isAtEnd {
            if !readElement(&scanner) {
                isBroken = true
                scanner.skipElement()
            }
            scanner.skipSeparators()
        }
    }

    /// Reads a parameter or the start of a challenge.
    ///
    /// Returns whether it is valid.
    private mutating func readElement(_ scanner: inout FieldScanner) -> Bool {
        guard let name = scanner.token() else { return false }
        let hasSpace = scanner.next?.isBlank == true
        scanner.skipSpace()
        if scanner.next == UInt8(ascii: "=") { return readParameter(name, &scanner) }
        guard hasSpace || scanner.isAtElementEnd else { return false }
        finish()
        scheme = name.lowercased()
        if !scanner.isAtElementEnd {
            token68 = scanner.token68()
            // Otherwise the first parameter of this challenge follows.
            if token68 == nil { return readFirstParameter(&scanner) }
        }
        return true
    }

    private mutating func readFirstParameter(_ scanner: inout FieldScanner) -> Bool {
        guard let name = scanner.token() else { return false }
        scanner.skipSpace()
        return readParameter(name, &scanner)
    }

    private mutating func readParameter(_ name: String, _ scanner: inout FieldScanner) -> Bool {
        guard scheme != nil, token68 == nil, scanner.take(UInt8(ascii: "=")) else { return false }
        scanner.skipSpace()
        guard let value = scanner.value() else { return false }
        let name = name.lowercased()
        // A name may occur only once (RFC 9110, 11.2).
        guard parameters.count < Self.parameterLimit, !parameters.contains(where: { $0.name == name }) else {
            return false
        }
        parameters.append(.init(name: name, value: value))
        scanner.skipSpace()
        return scanner.isAtElementEnd
    }

    private mutating func finish() {
        if let scheme, !isBroken {
            challenges.append(.init(scheme: scheme, token68: token68, parameters: parameters))
        }
        (scheme, token68, parameters, isBroken) = (nil, nil, [], false)
    }
}

/// A scanner of a field's value (RFC 9110, 5.6).
struct FieldScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// The next byte; nil at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Whether the scanner is at the end of a list element.
    var isAtElementEnd: Bool { isAtEnd || bytes[position] == UInt8(ascii: ",") }

    /// Moves to a position that was read from ``position`` before.
    mutating func move(to position: Int) { self.position = position }

    /// Skips spaces and tabs.
    mutating func skipSpace() { skip { $0.isBlank } }

    /// Skips the separators between list elements, including empty elements.
    mutating func skipSeparators() { skip { $0.isBlank || $0 == UInt8(ascii: ",") } }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next, condition(next) { position += 1 }
    }

    /// Consumes a byte if it is the next one.
    ///
    /// Returns whether it was.
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Reads a token; nil if there is none.
    mutating func token() -> String? { text(while: \.isTokenCharacter) }

    /// Reads a token68 (RFC 9110, 11.2) if it is the whole rest of this element; otherwise nil.
    mutating func token68() -> String? {
        let start = position
        skip(while: Self.isToken68Byte)
        guard position > start else { return nil }
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        skipSpace()
        guard isAtElementEnd else {
            position = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads a parameter's value, quoted or not; nil if there is none, or if its closing quote is missing.
    mutating func value() -> String? {
        guard take(UInt8(ascii: "\"")) else { return token() }
        var text: [UInt8] = []
        while let next {
            position += 1
            switch next {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.next else { return nil }
                position += 1
                text.append(escaped)
            default: text.append(next)
            }
        }
        return nil
    }

    /// Skips the rest of an invalid element.
    ///
    /// A comma within quotes does not end it.
    mutating func skipElement() {
        while let next, next != UInt8(ascii: ",") {
            if next == UInt8(ascii: "\"") { _ = value() } else { position += 1 }
        }
    }

    private mutating func text(while condition: (UInt8) -> Bool) -> String? {
        let start = position
        skip(while: condition)
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~+/".utf8.contains(byte)
    }
}

/// An authentication challenge of a server or a proxy (RFC 9110, 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `digest`, `bearer`.
    public let scheme: String
    /// The token68 after the scheme, if the challenge has one instead of parameters.
    public let token68: String?
    /// The parameters in order, with names in lower case.
    public let parameters: [Parameter]

    /// A parameter of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without quotes.
        public let value: String

        /// Creates a parameter.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a challenge.
    public init(scheme: String, token68: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The value of the parameter with a name in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The name of the protection space.
    public var realm: String? { self["realm"] }
}
