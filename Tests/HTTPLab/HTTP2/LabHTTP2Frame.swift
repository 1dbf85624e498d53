/// A frame of HTTP/2, valid or not (RFC 9113, 4.1).
package struct LabHTTP2Frame: Sendable, Hashable {
    /// The types of RFC 9113, 6.
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let push: UInt8 = 5
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    /// The type.
    package var kind: UInt8
    /// The flags: 1 is END_STREAM or ACK, 4 END_HEADERS, 8 PADDED.
    package var flags: UInt8
    /// The stream.
    package var stream: UInt32
    /// The payload.
    package var payload: [UInt8]

    /// Creates a frame.
    package init(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        (self.kind, self.flags, self.stream, self.payload) = (kind, flags, stream, payload)
    }

    /// The bytes, with another length in the header if one is given.
    package func bytes(length: Int? = nil) -> [UInt8] {
        Self.number(UInt32(length ?? payload.count), of: 3) + [kind, flags] + Self.number(stream, of: 4) + payload
    }

    /// Creates a HEADERS frame with both END_HEADERS and, by default, without END_STREAM.
    package static func headers(_ fields: [(String, String)], on stream: UInt32, ends: Bool = false) -> Self {
        .init(Kind.headers, flags: ends ? 5 : 4, stream: stream, block(fields))
    }

    /// Creates a DATA frame.
    package static func data(_ bytes: [UInt8], on stream: UInt32, ends: Bool = false) -> Self {
        .init(Kind.data, flags: ends ? 1 : 0, stream: stream, bytes)
    }

    /// Creates an RST_STREAM frame.
    package static func reset(_ code: UInt32, on stream: UInt32) -> Self {
        .init(Kind.reset, stream: stream, number(code, of: 4))
    }

    /// Creates a GOAWAY frame.
    package static func goAway(_ last: UInt32, _ code: UInt32 = 0, _ text: String = "") -> Self {
        .init(Kind.goAway, number(last, of: 4) + number(code, of: 4) + Array(text.utf8))
    }

    /// Creates a SETTINGS frame.
    package static func settings(_ settings: [(UInt16, UInt32)] = []) -> Self {
        .init(Kind.settings, settings.flatMap { number(UInt32($0.0), of: 2) + number($0.1, of: 4) })
    }

    /// Creates a WINDOW_UPDATE frame.
    package static func windowUpdate(_ increment: UInt32, on stream: UInt32 = 0) -> Self {
        .init(Kind.windowUpdate, stream: stream, number(increment, of: 4))
    }

    /// Returns a field block without compression: literals that are not indexed (RFC 7541, 6.2.2).
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + string(name) + string(value) }
    }

    /// Returns a string literal without Huffman coding (RFC 7541, 5.2).
    package static func string(_ text: String) -> [UInt8] {
        var length = text.utf8.count
        guard length >= 127 else { return [UInt8(length)] + Array(text.utf8) }
        length -= 127
        var prefix: [UInt8] = [127]
        while length >= 128 {
            prefix.append(UInt8(length & 127) | 128)
            length >>= 7
        }
        return prefix + [UInt8(length)] + Array(text.utf8)
    }

    /// Returns the last bytes of a number, the most significant first.
    package static func number(_ value: UInt32, of count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }

    /// The number in four bytes of the payload.
    package func number(at index: Int) -> UInt32 {
        payload.dropFirst(index).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
