import FuzzSupport
import NetworkClientCore

/// Any bytes as the frames of a server: the messages must not depend on how the bytes were split, stay within the limit,
/// and be valid.
@main
enum FuzzWebSocket {
    static func main() {
        Fuzzer.run { start, count in
            FuzzWebSocket.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells how the rest is split, the second the maximum size of a message; its highest bit allows
    /// compression.
    private static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let bytes = Array(input.dropFirst(2))
        let limit = Int(input[1] & 0x7F) * 8
        let allowsCompression = input[1] & 0x80 != 0
        let whole = reading(of: Splitting(bytes, seed: 0), limit, allowsCompression)
        let split = reading(of: Splitting(bytes, seed: input[0]), limit, allowsCompression)
        Fuzzer.expect(split == whole, "split otherwise, it is \(split), not \(whole)")
        handshake(bytes)
    }

    private struct Reading: Equatable {
        var messages: [WebSocketMessage] = []
        var pings: [[UInt8]] = []
        var closing = WebSocketClosing()
        var fault: WebSocketFault?
    }

    /// Reads as a connection does, except that compressed messages are taken as they are.
    private static func reading(of pieces: Splitting, _ limit: Int, _ allowsCompression: Bool) -> Reading {
        var parser = WebSocketParser(maximumMessageSize: limit, allowsCompression: allowsCompression)
        var assembler = WebSocketAssembler(maximumSize: limit)
        var reading = Reading()
        do throws(WebSocketFault) {
            for piece in pieces { try read(piece, &parser, &assembler, &reading) }
        } catch {
            Fuzzer.expect(parser.isOver || error.code != .protocolError, "it goes on after \(error)")
            Fuzzer.expect(error.code.isSendable, "\(error) can't be sent")
            reading.fault = error
        }
        return reading
    }

    private static func read(
        _ piece: [UInt8],
        _ parser: inout WebSocketParser,
        _ assembler: inout WebSocketAssembler,
        _ reading: inout Reading
    ) throws(WebSocketFault) {
        var position = 0
        while true {
            let result = piece.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
                return Result { () throws(WebSocketFault) in try parser.next(rest) }
            }
            let (consumed, event) = try result.get()
            position += consumed
            Fuzzer.expect(position <= piece.count, "more was consumed than came")
            guard let event else { return Fuzzer.expect(position == piece.count, "bytes were left over") }
            switch event {
            case .begin(let isText, _): assembler.begin(isText: isText)
            case .payload(let count): try append(piece[(position - count)..<position], to: &assembler)
            case .end: reading.messages.append(try assembler.end())
            case .ping(let payload), .pong(let payload):
                Fuzzer.expect(payload.count <= WebSocketFrame.maximumControlSize, "\(payload.count) bytes of control")
                reading.pings.append(payload)
            case .close(let closure): close(closure, &reading)
            }
        }
    }

    private static func append(
        _ payload: ArraySlice<UInt8>,
        to assembler: inout WebSocketAssembler
    ) throws(WebSocketFault) {
        Fuzzer.expect(!payload.isEmpty, "an event came of nothing")
        let result = payload.withUnsafeBytes { bytes in
            Result { () throws(WebSocketFault) in try assembler.append(bytes) }
        }
        try result.get()
        Fuzzer.expect(assembler.room >= 0, "the message is too large")
    }

    private static func close(_ closure: WebSocketClosure, _ reading: inout Reading) {
        Fuzzer.expect((try? WebSocketClosure(payload: closure.payload)) == closure, "\(closure) is read otherwise")
        Fuzzer.expect(reading.closing.receive(closure) != nil, "a second Close frame")
        Fuzzer.expect(reading.closing.isComplete && !reading.closing.isOpen, "\(closure) does not close")
    }

    /// The bytes as a field of the response: an agreement is within the offer.
    private static func handshake(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let offer = WebSocketHandshake(
            subprotocols: ["a"],
            compression: .init(serverContextTakeover: false, clientWindowBits: 12, serverWindowBits: 11)
        )
        let fields = [
            "Upgrade": ["websocket"], "Connection": ["Upgrade"], "Sec-WebSocket-Accept": ["x"],
            "Sec-WebSocket-Extensions": [text],
        ]
        guard let agreement = try? offer.agreement(accept: "x", { fields[$0] ?? [] }),
            let compression = agreement.compression
        else { return }
        Fuzzer.expect(!compression.serverContextTakeover, "\(compression) was not offered")
        Fuzzer.expect(8...12 ~= compression.clientWindowBits, "\(compression) was not offered")
        Fuzzer.expect(8...11 ~= compression.serverWindowBits, "\(compression) was not offered")
    }
}
