import FuzzSupport
import ReachabilityCore

/// Any bytes through the capture reader, the datagrams through the decoder, and all through the writer and back.
@main
enum FuzzCapture {
    static func main() {
        Fuzzer.run { start, count in
            FuzzCapture.read(UnsafeRawBufferPointer(start: start, count: count).bytes)
            return 0
        }
    }

    /// A record with its datagram.
    fileprivate struct Packet: Equatable {
        var time: Int64
        var type: CapturePacketType
        var netlinkProtocol: UInt16
        var datagram: [UInt8]
    }

    private static func read(_ file: RawSpan) {
        let packets = packets(in: file)
        let writer = CaptureWriter()
        var copy = writer.header
        for packet in packets {
            copy += writer.record(
                at: packet.time,
                packet.datagram,
                protocol: packet.netlinkProtocol,
                type: packet.type
            )
        }
        let again = Self.packets(in: copy.span.bytes)
        Fuzzer.expect(again.count == packets.count, "\(packets.count) records were copied to \(again.count)")
        for (one, other) in zip(packets, again) {
            Fuzzer.expect(one.isCopied(by: other), "\(one) was copied to \(other)")
        }
    }

    /// The records of a file; each has to lie within it, and behind the one before.
    private static func packets(in file: RawSpan) -> [Packet] {
        var reader = CaptureReader()
        var packets: [Packet] = []
        var steps = 0
        while true {
            steps += 1
            Fuzzer.expect(steps <= file.byteCount + 2, "the reader does not end")
            do throws(CaptureError) {
                guard let record = try reader.next(file) else { return packets }
                packets.append(packet(record, file))
            } catch {
                Fuzzer.expect(0...file.byteCount ~= error.offset, "the error lies outside: \(error)")
            }
        }
    }

    private static func packet(_ record: CaptureRecord, _ file: RawSpan) -> Packet {
        Fuzzer.expect(record.payload.upperBound <= file.byteCount, "a record beyond the file: \(record)")
        Fuzzer.expect(record.offset <= record.payload.lowerBound, "a record behind its payload: \(record)")
        let payload = file.extracting(record.payload)
        let decoder = NetlinkDecoder(byteOrder: record.byteOrder, protocolNumber: record.netlinkProtocol)
        decoder.decodeAll(payload) { _, _ in }
        return Packet(
            time: record.time,
            type: record.packetType,
            netlinkProtocol: record.netlinkProtocol,
            datagram: payload.withUnsafeBytes(Array.init)
        )
    }
}

extension FuzzCapture.Packet {
    /// Whether another one is the same; a time that the writer's format can't hold is another.
    fileprivate func isCopied(by other: Self) -> Bool {
        var copy = self
        if !(0..<(Int64(UInt32.max) + 1) * 1_000_000_000 ~= time) { copy.time = other.time }
        return copy == other
    }
}
