/// The properties of a packet (MQTT 5, 2.2.2), in order.
package struct MQTTProperties: Hashable, Sendable {
    /// A property's value.
    enum Value: Hashable, Sendable {
        case number(UInt32)
        case text(String)
        case data([UInt8])
        case pair(String, String)
    }

    /// A property.
    struct Entry: Hashable, Sendable {
        let name: MQTTPropertyName
        let value: Value
    }

    private(set) var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// A property whose value is a number.
    package subscript(number name: MQTTPropertyName) -> UInt32? {
        get {
            guard case .number(let value)? = first(name) else { return nil }
            return value
        }
        set { set(name, newValue.map(Value.number)) }
    }

    /// A property whose value is a text.
    package subscript(text name: MQTTPropertyName) -> String? {
        get {
            guard case .text(let value)? = first(name) else { return nil }
            return value
        }
        set { set(name, newValue.map(Value.text)) }
    }

    /// A property whose value are bytes.
    package subscript(data name: MQTTPropertyName) -> [UInt8]? {
        get {
            guard case .data(let value)? = first(name) else { return nil }
            return value
        }
        set { set(name, newValue.map(Value.data)) }
    }

    /// The properties of the user, in order; names may repeat.
    package var user: [(name: String, value: String)] {
        entries.compactMap { entry in
            guard case .pair(let name, let value) = entry.value else { return nil }
            return (name, value)
        }
    }

    /// Adds a property of the user.
    package mutating func addUser(_ name: String, _ value: String) {
        entries.append(.init(name: .userProperty, value: .pair(name, value)))
    }

    private func first(_ name: MQTTPropertyName) -> Value? { entries.first { $0.name == name }?.value }

    private mutating func set(_ name: MQTTPropertyName, _ value: Value?) {
        entries.removeAll { $0.name == name }
        if let value { entries.append(.init(name: name, value: value)) }
    }
}

extension MQTTProperties {
    /// Reads the properties of a packet, or of a will.
    init(_ reader: inout MQTTReader, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        let count = Int(try reader.variable("the properties' length"))
        var inner = MQTTReader(try reader.take(count, "the properties"))
        while !inner.isAtEnd {
            let entry = try Entry(&inner, of: owner)
            try check(entry, of: owner)
            entries.append(entry)
        }
    }

    private func check(_ entry: Entry, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        let mayRepeat =
            entry.name == .userProperty || entry.name == .subscriptionIdentifier && owner == .publish
        guard mayRepeat || first(entry.name) == nil else { throw .violation("\(entry.name) appears twice") }
        guard case .number(let value) = entry.value else { return }
        guard entry.name.range.contains(value) else { throw .violation("\(entry.name) is \(value)") }
    }

    /// Writes the properties that a packet may have.
    func write(to writer: inout MQTTWriter, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        var inner = MQTTWriter()
        for entry in entries { try entry.write(to: &inner, of: owner) }
        writer.variable(inner.bytes.count)
        writer.raw(inner.bytes)
    }
}

extension MQTTProperties.Entry {
    fileprivate init(_ reader: inout MQTTReader, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        let number = try reader.variable("a property's identifier")
        guard let name = UInt8(exactly: number).flatMap(MQTTPropertyName.init(rawValue:)) else {
            throw .malformed("there is no property \(number)")
        }
        guard name.owners.contains(owner) else { throw .violation("\(name) is not allowed in this packet") }
        self.name = name
        value =
            switch name.kind {
            case .byte: .number(UInt32(try reader.byte("\(name)")))
            case .number16: .number(UInt32(try reader.number16("\(name)")))
            case .number32: .number(try reader.number32("\(name)"))
            case .variable: .number(try reader.variable("\(name)"))
            case .text: .text(try reader.text("\(name)"))
            case .data: .data(try reader.data("\(name)"))
            case .pair: .pair(try reader.text("\(name)"), try reader.text("\(name)"))
            }
    }

    fileprivate func write(to writer: inout MQTTWriter, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        guard name.owners.contains(owner) else { throw .violation("\(name) is not allowed in this packet") }
        writer.byte(name.rawValue)
        switch value {
        case .number(let value): write(value, to: &writer)
        case .text(let text): try writer.text(text, "\(name)")
        case .data(let data): try writer.data(data, "\(name)")
        case .pair(let first, let second):
            try writer.text(first, "\(name)")
            try writer.text(second, "\(name)")
        }
    }

    private func write(_ value: UInt32, to writer: inout MQTTWriter) {
        switch name.kind {
        case .byte: writer.byte(UInt8(truncatingIfNeeded: value))
        case .number16: writer.number16(UInt16(truncatingIfNeeded: value))
        case .variable: writer.variable(Int(value))
        default: writer.number32(value)
        }
    }
}
