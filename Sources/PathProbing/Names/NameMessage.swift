package import ReachabilityCore

/// A DNS query for the addresses of a name, of one family, and its reply (RFC 1035, 4; RFC 3596).
package struct NameMessage: Sendable, Hashable {
    /// The number that tells the reply from others.
    package let id: UInt16
    /// The query's bytes.
    package let query: [UInt8]
    private let question: [UInt8]
    private let family: AddressFamily

    /// The length of the header.
    private static let headerSize = 12
    /// `A` or `AAAA`, and `IN`.
    private static func typeAndClass(_ family: AddressFamily) -> [UInt8] { [0, family == .ipv4 ? 1 : 28, 0, 1] }

    /// Makes a query that asks for recursion; nil for a name that can't be asked for: an empty label, or one of more than 63
    /// bytes, or 253 bytes in all.
    package init?(_ name: String, _ family: AddressFamily = .ipv4, id: UInt16) {
        let text = name.hasSuffix(".") ? name.dropLast() : name[...]
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy({ 1...63 ~= $0.count }) else { return nil }
        question = labels.flatMap { [UInt8($0.count)] + $0 } + [0] + Self.typeAndClass(family)
        self.id = id
        self.family = family
        query = [UInt8(id >> 8), UInt8(truncatingIfNeeded: id), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + question
    }

    /// Decodes the reply to this query; nil for any other datagram.
    ///
    /// - Parameter bytes: The datagram.
    /// - Returns: The response code, and the addresses of the name.
    package func reply(in bytes: [UInt8]) -> ProbeOutcome? {
        let end = Self.headerSize + question.count
        guard bytes.count >= end, bytes[0] == query[0], bytes[1] == query[1], bytes[2] & 0x80 != 0 else { return nil }
        guard Self.lowercased(bytes[Self.headerSize..<end]) == Self.lowercased(question[...]) else { return nil }
        let count = Int(bytes[6]) << 8 | Int(bytes[7])
        return .nameAnswer(code: bytes[3] & 0x0F, addresses: addresses(in: bytes, from: end, count: count))
    }

    /// Servers may change the case of letters.
    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// The addresses of the answer section, as far as it is well-formed.
    private func addresses(in bytes: [UInt8], from start: Int, count: Int) -> [IPAddress] {
        let (typeAndClass, size) = (Self.typeAndClass(family), family.bitWidth / 8)
        var position = start
        var found: [IPAddress] = []
        for _ in 0..<count {
            guard let record = Self.endOfName(in: bytes, at: position), record + 10 <= bytes.count else { break }
            let length = Int(bytes[record + 8]) << 8 | Int(bytes[record + 9])
            let data = record + 10
            guard data + length <= bytes.count else { break }
            if bytes[record..<record + 4].elementsEqual(typeAndClass), length == size {
                let value = bytes[data..<data + size].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
                found.append(.init(family: family, bits: value << UInt128(128 - family.bitWidth)))
            }
            position = data + length
        }
        return found
    }

    /// The position after a name: labels up to the root, or a pointer (RFC 1035, 4.1.4).
    private static func endOfName(in bytes: [UInt8], at start: Int) -> Int? {
        var position = start
        while position < bytes.count {
            let length = Int(bytes[position])
            if length == 0 { return position + 1 }
            if length & 0xC0 == 0xC0 { return position + 2 }
            guard length < 64 else { return nil }
            position += 1 + length
        }
        return nil
    }
}
