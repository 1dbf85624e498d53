import FuzzSupport
import NetworkClientCore

/// Any bytes as an event stream: its events must not depend on how it was split, and are those that a plain reading of
/// the specification finds.
@main
enum FuzzEventStream {
    static func main() {
        Fuzzer.run { start, count in
            FuzzEventStream.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells how the rest is split, the second the maximum size of a line and of an event.
    private static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let bytes = Array(input.dropFirst(2))
        let limit = input[1] < 128 ? Int(input[1]) : .max
        let reading = reading(of: Splitting(bytes, seed: input[0]), limit)
        let whole = Self.reading(of: Splitting(bytes, seed: 0), limit)
        Fuzzer.expect(reading == whole, "split otherwise, it is \(reading), not \(whole)")
        for event in reading.events {
            Fuzzer.expect(event.data.utf8.count <= limit || bytes.contains { $0 > 127 }, "\(event) is too large")
            Fuzzer.expect(!event.id.utf8.contains { [0, 10, 13].contains($0) }, "\(event) has an invalid ID")
            Fuzzer.expect(!event.name.isEmpty, "\(event) has no name")
        }
        guard limit == .max else { return }
        Fuzzer.expect(reading.fault == nil, "\(String(describing: reading.fault)) without a limit")
        Fuzzer.expect(reading == plainReading(of: bytes), "\(reading) is not \(plainReading(of: bytes))")
    }

    private struct Reading: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var retryTime: Duration?
        var fault: EventStreamFault?
    }

    private static func reading(of pieces: Splitting, _ limit: Int) -> Reading {
        var parser = EventStreamParser(maximumSize: limit)
        var reading = Reading()
        do throws(EventStreamFault) {
            for piece in pieces {
                var position = 0
                while true {
                    let result = piece.withUnsafeBytes { bytes in
                        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
                        return Result { () throws(EventStreamFault) in try parser.next(rest) }
                    }
                    let (consumed, event) = try result.get()
                    position += consumed
                    Fuzzer.expect(position <= piece.count, "more was consumed than came")
                    guard let event else { break }
                    Fuzzer.expect(consumed > 0, "an event came of nothing")
                    reading.events.append(event)
                }
                Fuzzer.expect(position == piece.count, "bytes were left over")
            }
        } catch {
            reading.fault = error
        }
        reading.lastEventID = parser.lastEventID
        reading.retryTime = parser.retryTime
        return reading
    }

    // MARK: The specification, step by step

    private static func plainReading(of bytes: [UInt8]) -> Reading {
        var reading = Reading()
        var data: [UInt8] = []
        var (name, id) = ("", "")
        for line in lines(of: bytes) {
            guard !line.isEmpty else {
                reading.lastEventID = id
                if !data.isEmpty {
                    let text = String(decoding: data.dropLast(), as: UTF8.self)
                    reading.events.append(.init(id: id, name: name.isEmpty ? "message" : name, data: text))
                }
                (data, name) = ([], "")
                continue
            }
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? Array(parts[1]) : []
            if value.first == UInt8(ascii: " ") { value.removeFirst() }
            switch Array(parts[0]) {
            case Array("data".utf8): data += value + [10]
            case Array("event".utf8): name = String(decoding: value, as: UTF8.self)
            case Array("id".utf8) where !value.contains(0): id = String(decoding: value, as: UTF8.self)
            case Array("retry".utf8) where !value.isEmpty && value.allSatisfy({ (48...57).contains($0) }):
                let digits = String(decoding: value, as: UTF8.self)
                reading.retryTime = .milliseconds(min(Int(digits) ?? .max, 86_400_000))
            default: break
            }
        }
        return reading
    }

    /// The lines that end, without their ends and the byte order mark.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 10 where index > 0 && bytes[index - 1] == 13: break
            case 10, 13: lines.append([])
            default: lines[lines.count - 1].append(byte)
            }
        }
        return lines.dropLast()
    }
}
