/// Parses JSON strictly (RFC 8259): nothing after the value, no duplicate key, no control character in a string.
package struct JSONParser {
    private var rest: Substring.UnicodeScalarView

    package static func parse(_ text: String) throws -> JSONValue {
        var parser = JSONParser(rest: text[...].unicodeScalars)
        let value = try parser.value()
        parser.skipSpace()
        guard parser.rest.isEmpty else { throw JSONParseError("something follows the value: \(parser.rest)") }
        return value
    }

    private mutating func value() throws -> JSONValue {
        skipSpace()
        switch rest.first {
        case "{": return try object()
        case "[": return try array()
        case "\"": return .string(try string())
        case "t": return try literal("true", .bool(true))
        case "f": return try literal("false", .bool(false))
        case "n": return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws -> JSONValue {
        var members: [String: JSONValue] = [:]
        try list(from: "{", to: "}") { parser in
            parser.skipSpace()
            let key = try parser.string()
            parser.skipSpace()
            try parser.take(":")
            guard members.updateValue(try parser.value(), forKey: key) == nil else {
                throw JSONParseError("the key '\(key)' stands twice")
            }
        }
        return .object(members)
    }

    private mutating func array() throws -> JSONValue {
        var elements: [JSONValue] = []
        try list(from: "[", to: "]") { elements.append(try $0.value()) }
        return .array(elements)
    }

    private mutating func list(
        from open: Unicode.Scalar,
        to close: Unicode.Scalar,
        _ element: (inout Self) throws -> Void
    ) throws {
        try take(open)
        skipSpace()
        if rest.first == close { return try take(close) }
        while true {
            try element(&self)
            skipSpace()
            if rest.first == close { return try take(close) }
            try take(",")
        }
    }

    private mutating func string() throws -> String {
        try take("\"")
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(text)
            case "\\": text.append(try escaped())
            case "\u{0}"..<"\u{20}": throw JSONParseError("a control character in a string")
            default: text.append(scalar)
            }
        }
        throw JSONParseError("a string does not end")
    }

    private mutating func escaped() throws -> Unicode.Scalar {
        switch rest.popFirst() {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            let digits = String(rest.prefix(4))
            rest = rest.dropFirst(4)
            guard digits.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                throw JSONParseError("'\\u\(digits)' is no character (surrogate pairs are not read)")
            }
            return scalar
        default: throw JSONParseError("an unknown escape")
        }
    }

    private mutating func number() throws -> Double {
        let text = String(rest.prefix { "+-.eE0123456789".unicodeScalars.contains($0) })
        rest = rest.dropFirst(text.unicodeScalars.count)
        let pattern = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
        guard text.wholeMatch(of: pattern) != nil, let number = Double(text) else {
            throw JSONParseError("'\(text)' is no number")
        }
        return number
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws -> JSONValue {
        for scalar in text.unicodeScalars { try take(scalar) }
        return value
    }

    private mutating func take(_ scalar: Unicode.Scalar) throws {
        guard rest.first == scalar else { throw JSONParseError("'\(scalar)' is missing before '\(rest.prefix(20))'") }
        rest.removeFirst()
    }

    private mutating func skipSpace() {
        rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) }
    }
}

/// The fault in invalid JSON.
package struct JSONParseError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
