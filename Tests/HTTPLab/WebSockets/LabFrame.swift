import Crypto
import Foundation

/// A frame of a WebSocket, valid or not (RFC 6455, 5.2).
package struct LabFrame: Sendable, Hashable {
    /// Whether it is the last frame of its message.
    package var isFinal: Bool
    /// The three reserved bits, as a number from 0 to 7; 4 is RSV1.
    package var reserved: UInt8
    /// The opcode, from 0 to 15.
    package var opcode: UInt8
    /// The payload, unmasked.
    package var payload: [UInt8]
    /// The masking key; nil for a frame that is not masked.
    package var key: [UInt8]?

    /// Creates a frame.
    package init(
        _ opcode: UInt8,
        _ payload: [UInt8] = [],
        isFinal: Bool = true,
        reserved: UInt8 = 0,
        key: [UInt8]? = nil
    ) {
        (self.opcode, self.payload, self.isFinal, self.reserved, self.key) = (opcode, payload, isFinal, reserved, key)
    }

    /// Creates a text frame.
    package static func text(_ text: String, isFinal: Bool = true) -> Self {
        .init(1, Array(text.utf8), isFinal: isFinal)
    }

    /// Creates a continuation frame.
    package static func more(_ text: String, isFinal: Bool = true) -> Self {
        .init(0, Array(text.utf8), isFinal: isFinal)
    }

    /// Creates a ping.
    package static func ping(_ text: String = "") -> Self { .init(9, Array(text.utf8)) }

    /// Creates a pong.
    package static func pong(_ text: String = "") -> Self { .init(10, Array(text.utf8)) }

    /// Creates a Close frame.
    package static func close(_ code: UInt16? = nil, _ reason: String = "") -> Self {
        .init(8, (code.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []) + reason.utf8)
    }

    /// The code of a Close frame; nil for another frame, or for one without a code.
    package var closeCode: UInt16? {
        opcode == 8 && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    /// The bytes that are sent.
    package var bytes: [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let flag: UInt8 = key == nil ? 0 : 0x80
        switch payload.count {
        case ...125: bytes.append(flag | UInt8(payload.count))
        case ...65_535: bytes += [flag | 126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
        default: bytes += [flag | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard let key else { return bytes + payload }
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }
}

extension ServerConnection {
    /// Reads a request for a WebSocket, and accepts it.
    ///
    /// - Parameter fields: Further fields of the response.
    /// - Throws: The end of the connection.
    package func acceptWebSocket(_ fields: [String] = []) throws {
        let request = try readRequest()
        let lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(Self.accept(request))",
        ]
        try send(Array(((lines + fields).joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// Returns the value of `Sec-WebSocket-Accept` for a request (RFC 6455, 4.2.2).
    package static func accept(_ request: ServerRecord.Request) -> String {
        let key = request.field("Sec-WebSocket-Key") ?? ""
        let input = Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        return Data(Insecure.SHA1.hash(data: input)).base64EncodedString()
    }

    /// Sends frames.
    package func send(_ frames: LabFrame...) throws { try send(frames.flatMap(\.bytes)) }

    /// Reads a frame, and unmasks it.
    package func readFrame() throws -> LabFrame {
        let head = try take(2)
        var length = Int(head[1] & 0x7F)
        if length > 125 { length = try take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        let key = head[1] & 0x80 != 0 ? try take(4) : nil
        var payload = try take(length)
        if let key { for index in payload.indices { payload[index] ^= key[index % 4] } }
        return .init(
            head[0] & 0x0F,
            payload,
            isFinal: head[0] & 0x80 != 0,
            reserved: head[0] >> 4 & 7,
            key: key
        )
    }
}
