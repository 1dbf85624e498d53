/// Reads `WWW-Authenticate`, `Proxy-Authenticate` and their like (RFC 9110, 11.6.1).
///
/// A comma may stand between challenges, and between the parameters of one: a name with `=` behind it is a parameter, a
/// name without is the next challenge. A challenge that breaks the rules is left out, the others count.
public struct ChallengeParser {
    /// How many challenges are read of an answer.
    private static let limit = 32

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
        let hasSpace = scanner.next == 0x20 || scanner.next == 0x09
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
        guard !parameters.contains(where: { $0.name == name }) else { return false }
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
