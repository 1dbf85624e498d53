import NetworkLab
import ReachabilityCore

/// Draws any value that a message can contain.
extension SeededGenerator {
    /// A number, often a small one or one at the edge.
    mutating func number<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: 0
        case 1: 1
        case 2: .max
        case 3: .min
        default: .random(in: .min ... .max, using: &self)
        }
    }

    /// Whether to do something: one time in two.
    mutating func flip() -> Bool { .random(using: &self) }

    /// A value or nil, one time in two.
    mutating func maybe<Value>(_ draw: (inout Self) -> Value) -> Value? { flip() ? draw(&self) : nil }

    /// An interface's index; never 0, which means none.
    mutating func index() -> InterfaceIndex { .random(in: 1 ... .max, using: &self) }

    /// A valid interface name.
    mutating func name() -> String {
        String((0..<Int.random(in: 1...15, using: &self)).map { _ in pick(Array("abz019-_.:\u{e9}")) })
    }

    /// One of some values, of which there must be one.
    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }

    /// One of the two families.
    mutating func family() -> AddressFamily { pick(AddressFamily.allCases) }

    /// An address of a family.
    mutating func address(_ family: AddressFamily) -> IPAddress {
        family == .ipv4 ? .init(ipv4: number()) : .init(family: .ipv6, bits: number())
    }

    /// A prefix of any length, whose address may have bits set after it.
    mutating func prefix(_ family: AddressFamily) -> IPPrefix {
        .init(address(family), length: UInt8(Int.random(in: 0...family.bitWidth, using: &self)))
    }

    /// A number of values, often none.
    mutating func list<Value>(_ draw: (inout Self) -> Value) -> [Value] {
        (0..<pick([0, 0, 1, 1, 2, 3, 8])).map { _ in draw(&self) }
    }
}
