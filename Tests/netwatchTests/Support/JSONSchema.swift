import CommandLineLab
import ReachabilityCore

/// Validates values against a JSON Schema of draft 2020-12, as far as the event schema uses it.
///
/// A keyword that it does not know is an error, so that every keyword of the schema is checked.
struct JSONSchema {
    let root: JSONValue

    /// The faults of a value; empty if there are none.
    func faults(in value: JSONValue) throws -> [String] {
        try faults(in: value, root, at: "$")
    }

    private static let annotations: Set<String> = ["$schema", "$defs", "title", "description"]

    private func faults(in value: JSONValue, _ schema: JSONValue, at place: String) throws -> [String] {
        guard case .object(let keywords) = schema else { throw SchemaError("the schema at \(place) is no object") }
        var faults: [String] = []
        for (keyword, argument) in keywords where !Self.annotations.contains(keyword) {
            faults += try apply(keyword, argument, schema, to: value, at: place)
        }
        return faults
    }

    private func apply(
        _ keyword: String,
        _ argument: JSONValue,
        _ schema: JSONValue,
        to value: JSONValue,
        at place: String
    ) throws -> [String] {
        switch keyword {
        case "$ref": return try faults(in: value, definition(argument), at: place)
        case "anyOf": return try anyOf(argument, value, place)
        case "properties": return try properties(argument, value, place)
        case "items": return try items(argument, value, place)
        default:
            let holds = try holds(keyword, argument, schema, value)
            return holds ? [] : ["\(place): \(value) against \(keyword) \(argument)"]
        }
    }

    private func holds(_ keyword: String, _ argument: JSONValue, _ schema: JSONValue, _ value: JSONValue) throws -> Bool
    {
        switch keyword {
        case "type": return try isOfType(argument, value)
        case "const": return value == argument
        case "enum": return try argument.elements.orThrow("enum").contains(value)
        case "minimum": return try value.number.map { try $0 >= argument.number.orThrow(keyword) } ?? true
        case "maximum": return try value.number.map { try $0 <= argument.number.orThrow(keyword) } ?? true
        case "uniqueItems": return value.elements.map { Set($0).count == $0.count } ?? true
        case "pattern": return try value.text.map { try matches($0, argument) } ?? true
        case "format": return try value.text.map { try isOfFormat(argument, $0) } ?? true
        case "required":
            return try argument.elements.orThrow(keyword).allSatisfy { key in
                try value[key.text.orThrow(keyword)] != nil
            }
        case "additionalProperties":
            guard argument == .bool(false) else { throw SchemaError("additionalProperties other than false") }
            guard case .object(let members) = value, case .object(let known) = schema["properties"] else { return true }
            return Set(members.keys).isSubset(of: known.keys)
        default: throw SchemaError("unknown keyword '\(keyword)'")
        }
    }

    private func anyOf(_ argument: JSONValue, _ value: JSONValue, _ place: String) throws -> [String] {
        var all: [String] = []
        for schema in try argument.elements.orThrow("anyOf") {
            let found = try faults(in: value, schema, at: place)
            if found.isEmpty { return [] }
            all += found
        }
        return all
    }

    private func properties(_ argument: JSONValue, _ value: JSONValue, _ place: String) throws -> [String] {
        guard case .object(let schemas) = argument else { throw SchemaError("properties") }
        return try schemas.flatMap { key, schema in
            try value[key].map { try faults(in: $0, schema, at: place + "." + key) } ?? []
        }
    }

    private func items(_ argument: JSONValue, _ value: JSONValue, _ place: String) throws -> [String] {
        try (value.elements ?? []).enumerated().flatMap { index, element in
            try faults(in: element, argument, at: "\(place)[\(index)]")
        }
    }

    private func definition(_ reference: JSONValue) throws -> JSONValue {
        let path = try reference.text.orThrow("$ref").split(separator: "/")
        guard path.count == 3, path[0] == "#", path[1] == "$defs", let found = root["$defs"]?[String(path[2])] else {
            throw SchemaError("$ref \(reference)")
        }
        return found
    }

    private func isOfType(_ type: JSONValue, _ value: JSONValue) throws -> Bool {
        switch (type.text, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array), ("object", .object),
            ("number", .number):
            true
        case ("integer", .number(let number)): number.rounded() == number
        case ("null", _), ("boolean", _), ("string", _), ("array", _), ("object", _), ("number", _), ("integer", _):
            false
        default: throw SchemaError("type \(type)")
        }
    }

    private func matches(_ text: String, _ pattern: JSONValue) throws -> Bool {
        try text.firstMatch(of: Regex(pattern.text.orThrow("pattern"))) != nil
    }

    private func isOfFormat(_ format: JSONValue, _ text: String) throws -> Bool {
        switch format.text {
        case "ipv4": IPAddress(text)?.family == .ipv4
        case "ipv6": IPAddress(text)?.family == .ipv6
        case "date-time": Self.isDateTime(text)
        default: throw SchemaError("format \(format)")
        }
    }

    /// RFC 3339's ranges; the schema's pattern checks the form.
    private static func isDateTime(_ text: String) -> Bool {
        let fields = text.split { !("0"..."9").contains($0) }.compactMap { Int($0) }
        guard fields.count >= 6, (1...12).contains(fields[1]) else { return false }
        let isLeap = fields[0] % 4 == 0 && (fields[0] % 100 != 0 || fields[0] % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][fields[1] - 1]
        return (1...days).contains(fields[2]) && fields[3] < 24 && fields[4] < 60 && fields[5] < 61
    }
}

/// A schema that the validator does not understand.
struct SchemaError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Optional {
    fileprivate func orThrow(_ keyword: String) throws -> Wrapped {
        guard let self else { throw SchemaError("the argument of \(keyword)") }
        return self
    }
}
