/// Reads `WWW-Authenticate`, `Proxy-Authenticate` and their like (RFC 9110, 11.6.1).
///
/// A comma may stand between challenges, and between the parameters of one: a name with `=` behind it is a parameter, a
/// name without is the next challenge. A challenge that breaks the rules is left out, the others count.
public struct ChallengeParser {
    /// How many challenges are read of an answer.
    private static let limit = 32
    /// How many parameters a challenge may have: each is compared with all before, and no scheme has as many.
    private static let parameterLimit = 64

    private var challenges: [AuthenticationChallenge] = []
    private var scheme: String?
    private var token68: String?
    private var parameters: [AuthenticationChallenge.Parameter] = []
    private var isBroken = false

    /// The challenges of an answer, in their order.
    ///
    /// - Parameter values: The values of all fields of that name.
    /// - Returns: Those that can be read.
    public static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        var parser = Self()
        for value in values { parser.read(value) }
        return Array(parser.challenges.prefix(limit))
    }

    /// The parameters of a field that has nothing else, such as `Authentication-Info`.
    public static func parameters(in values: [String]) -> [String: String] {
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

    /// Reads a parameter, or the beginning of a challenge; whether it is one.
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
            // What follows is a parameter then, of this challenge.
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
        // A name comes once (RFC 9110, 11.2): which of two would count?
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

/// Reads a field's value from its beginning to its end, by RFC 9110, 5.6.
struct FieldScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// The next byte; nil at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Whether nothing follows of this element of a list.
    var isAtElementEnd: Bool { isAtEnd || bytes[position] == UInt8(ascii: ",") }

    /// Goes back, or on, to a place that was read from ``position``.
    mutating func move(to position: Int) { self.position = position }

    /// Passes over spaces and tabs.
    mutating func skipSpace() { skip { $0.isBlank } }

    /// Passes over what stands between the elements of a list, empty ones included.
    mutating func skipSeparators() { skip { $0.isBlank || $0 == UInt8(ascii: ",") } }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next, condition(next) { position += 1 }
    }

    /// Takes a byte, if it is the next one.
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Takes a token; nil if there is none.
    mutating func token() -> String? { text(while: \.isTokenCharacter) }

    /// Takes what RFC 9110, 11.2, calls token68, if it is all that this element has.
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

    /// Takes a parameter's value, quoted or not; nil if there is none, or its quotes are not closed.
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

    /// Passes over the rest of an element that can't be read; a comma within quotes does not end it.
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

/// A way in which a server or a proxy asks who is there (RFC 9110, 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `digest`, `bearer`.
    public let scheme: String
    /// What follows the scheme, where that is no list of parameters.
    public let token68: String?
    /// The parameters, their names in lower case, in their order.
    public let parameters: [Parameter]

    /// A parameter of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// Its name in lower case.
        public let name: String
        /// Its value, unquoted.
        public let value: String

        /// Makes one.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a challenge.
    public init(scheme: String, token68: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The value of a parameter, by its name in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// What the server calls the part of it that is protected alike.
    public var realm: String? { self["realm"] }
}
