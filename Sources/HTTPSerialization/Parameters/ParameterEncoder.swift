import FoundationEssentials

/// Encodes any value as a tree of parameters, without going through a text that would lose digits, dates or sets.
struct ParameterEncoder: Encoder {
    let codingPath: [any CodingKey]
    private let slot: Slot
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ slot: Slot, _ codingPath: [any CodingKey]) {
        self.slot = slot
        self.codingPath = codingPath
    }

    /// The range of dates that ISO 8601 can write with four digits for the year, in seconds since 1970.
    private static let dates = -62_167_219_200.0..<253_402_300_800

    /// Returns a value as a tree; nil for an optional without a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - path: Its keys, for the error.
    /// - Returns: The tree.
    /// - Throws: The reason why the value can't be sent.
    static func node(
        of value: some Encodable,
        at path: @autoclosure () -> [any CodingKey]
    ) throws(ParameterFailure) -> ParameterNode? {
        switch value {
        case let value as String: return .string(value)
        case let value as Bool: return .bool(value)
        case let value as any FixedWidthInteger: return .number(.init(value))
        case let value as Double:
            guard value.isFinite else { throw .init(path(), "is not a finite number (\(value))") }
            return .double(value)
        case let value as Float:
            guard value.isFinite else { throw .init(path(), "is not a finite number (\(value))") }
            // By its text: as a double, 0.1 has more digits.
            return .number(.init(validated: Int64(exactly: value).map { "\($0)" } ?? "\(value)"))
        case let value as Decimal:
            guard let number = JSONNumber(value) else { throw .init(path(), "is not a number (\(value))") }
            return .number(number)
        case let value as Date:
            guard dates.contains(value.timeIntervalSince1970) else {
                throw .init(
                    path(),
                    "is a date outside the years 0 to 9999 (\(value.timeIntervalSince1970) s since 1970)"
                )
            }
            return .date(value)
        case let value as Data: return .data(value)
        case let value as URL: return .string(value.absoluteString)
        case let value as JSONValue: return .init(value)
        case let value as JSONNumber: return .number(value)
        case let value as ParameterNode: return value
        case let value as Parameters: return try nested(value, path())
        case let value as any EncodableSet:
            var nodes: [ParameterNode] = []
            for element in value.elements { nodes.append(try node(of: element, at: path()) ?? .null) }
            return .set(ParameterNode.sorted(nodes))
        case let value as any EncodableOptional:
            guard let value = value.wrapped else { return nil }
            return try node(of: value, at: path())
        default: return try encoded(value, path())
        }
    }

    private static func nested(
        _ parameters: Parameters,
        _ path: [any CodingKey]
    ) throws(ParameterFailure) -> ParameterNode? {
        do throws(ParameterFailure) {
            return try parameters.node()
        } catch {
            var error = error
            error.path = path.map(\.stringValue) + error.path
            throw error
        }
    }

    private static func encoded(
        _ value: some Encodable,
        _ path: [any CodingKey]
    ) throws(ParameterFailure) -> ParameterNode {
        let slot = Slot()
        do {
            try value.encode(to: Self(slot, path))
        } catch let error as ParameterFailure {
            throw error
        } catch {
            throw .init(path, "can't be encoded: \(error)")
        }
        guard let node = slot.node else { throw .init(path, "can't be encoded: its type encodes nothing") }
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        .init(ParameterKeyedContainer(slot: slot.keyed(), codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        ParameterUnkeyedContainer(slot: slot.unkeyed(), codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterSingleContainer(slot: slot, codingPath: codingPath)
    }

    /// Where a container puts its values: they may still change after the container that it is nested in has gone.
    fileprivate final class Slot {
        enum Content {
            case none
            case node(ParameterNode)
            case keyed([String: Slot])
            case unkeyed([Slot])
        }

        var content: Content

        init(_ content: Content = .none) { self.content = content }

        /// The value; nil if nothing was encoded.
        var node: ParameterNode? {
            switch content {
            case .none: nil
            case .node(let node): node
            case .keyed(let slots): .dictionary(slots.compactMapValues(\.node))
            case .unkeyed(let slots): .array(slots.map { $0.node ?? .null })
            }
        }

        var count: Int { if case .unkeyed(let slots) = content { slots.count } else { 0 } }

        /// Makes this slot one of a dictionary, unless it is.
        func keyed() -> Slot {
            if case .keyed = content { return self }
            content = .keyed([:])
            return self
        }

        /// Makes this slot one of an array, unless it is.
        func unkeyed() -> Slot {
            if case .unkeyed = content { return self }
            content = .unkeyed([])
            return self
        }

        func set(_ slot: Slot, for key: String) {
            guard case .keyed(var slots) = content else { return }
            content = .none
            slots[key] = slot
            content = .keyed(slots)
        }

        func append(_ slot: Slot) {
            guard case .unkeyed(var slots) = content else { return }
            content = .none
            slots.append(slot)
            content = .unkeyed(slots)
        }
    }

    fileprivate static func nestedEncoder(_ slot: Slot, _ path: [any CodingKey]) -> Self { .init(slot, path) }
}

private struct ParameterKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: ParameterEncoder.Slot
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { slot.set(.init(.node(.null)), for: key.stringValue) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        guard let node = try ParameterEncoder.node(of: value, at: codingPath + [key]) else { return }
        slot.set(.init(.node(node)), for: key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(for: key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(for: JSONKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

    private func encoder(for key: any CodingKey) -> ParameterEncoder {
        let nested = ParameterEncoder.Slot()
        slot.set(nested, for: key.stringValue)
        return .nestedEncoder(nested, codingPath + [key])
    }
}

private struct ParameterUnkeyedContainer: UnkeyedEncodingContainer {
    let slot: ParameterEncoder.Slot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    func encodeNil() { slot.append(.init(.node(.null))) }

    func encode(_ value: some Encodable) throws {
        let node = try ParameterEncoder.node(of: value, at: codingPath + [JSONKey(intValue: count)])
        slot.append(.init(.node(node ?? .null)))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> ParameterEncoder {
        let nested = ParameterEncoder.Slot()
        let path = codingPath + [JSONKey(intValue: count)]
        slot.append(nested)
        return .nestedEncoder(nested, path)
    }
}

private struct ParameterSingleContainer: SingleValueEncodingContainer {
    let slot: ParameterEncoder.Slot
    let codingPath: [any CodingKey]

    func encodeNil() { slot.content = .node(.null) }

    func encode(_ value: some Encodable) throws {
        slot.content = .node(try ParameterEncoder.node(of: value, at: codingPath) ?? .null)
    }
}

/// A set of encodable values: Swift's `Set`.
private protocol EncodableSet {
    var elements: [any Encodable] { get }
}

extension Set: EncodableSet where Element: Encodable {
    fileprivate var elements: [any Encodable] { Array(self) }
}

/// An optional of an encodable value.
private protocol EncodableOptional {
    var wrapped: (any Encodable)? { get }
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    fileprivate var wrapped: (any Encodable)? { self }
}
