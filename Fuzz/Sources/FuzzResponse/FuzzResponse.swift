import FuzzSupport
import NetworkClientCore

/// Any bytes as the responses on a connection: how they were split must not change where heads, bodies and chunks begin
/// and end, nor which transfer codings are refused.
@main
enum FuzzResponse {
    private static let maximumHeadSize = 1_024
    private static let methods = ["GET", "HEAD", "POST", "CONNECT"]

    static func main() {
        Fuzzer.run { start, count in
            FuzzResponse.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells the request's method, the second how the rest is split.
    private static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let method = methods[Int(input[0] & 3)]
        let bytes = Array(input.dropFirst(2))
        let reading = reading(of: Splitting(bytes, seed: input[1]), method)
        let alone = Self.reading(of: Splitting(bytes, seed: 1), method)
        Fuzzer.expect(reading == alone, "split otherwise, it is \(reading), not \(alone)")
        Fuzzer.expect(reading.body.count <= bytes.count, "the body has more bytes than came")
        Fuzzer.expect(method != "HEAD" || reading.body.isEmpty, "a response to HEAD has a body")
    }

    /// What was read of a connection.
    private struct Reading: Equatable {
        var heads: [String] = []
        var body: [UInt8] = []
        var ends = 0
        var fault: String?
    }

    private static func reading(of pieces: Splitting, _ method: String) -> Reading {
        var parser = ResponseParser(maximumHeadSize: maximumHeadSize)
        var reading = Reading()
        parser.expectResponse(to: method)
        do throws(ResponseFault) {
            for piece in pieces { try read(piece, &parser, &reading) }
            if try parser.finish() != nil { reading.ends += 1 }
        } catch {
            reading.fault = "\(error)"
        }
        return reading
    }

    private static func read(
        _ piece: [UInt8],
        _ parser: inout ResponseParser,
        _ reading: inout Reading
    ) throws(ResponseFault) {
        var position = 0
        var steps = 0
        while true {
            steps += 1
            Fuzzer.expect(steps <= 2 * piece.count + 4, "the parser does not end")
            let result = piece.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
                return Result { () throws(ResponseFault) in try parser.next(rest) }
            }
            let (consumed, event) = try result.get()
            Fuzzer.expect(consumed <= piece.count - position, "more was consumed than came")
            position += consumed
            switch event {
            case .head(let head): reading.heads.append("\(head.status) \(head.fields)")
            case .body(let count):
                Fuzzer.expect(1...consumed ~= count, "\(count) bytes of a body in \(consumed)")
                reading.body += piece[(position - count)..<position]
            case .end: reading.ends += 1
            case nil:
                Fuzzer.expect(position == piece.count, "bytes were left over")
                return
            }
        }
    }
}
