import FuzzSupport
import ReachabilityCore

/// Any bytes through the decoder, and what comes out through the encoder and back.
@main
enum FuzzDecoder {
    static func main() {
        Fuzzer.run { start, count in
            FuzzDecoder.decode(UnsafeRawBufferPointer(start: start, count: count))
            return 0
        }
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) {
        let input = FuzzInput(bytes)
        var events: [KernelEvent] = []
        input.decoder.decodeAll(input.payload.bytes) { header, event in
            Fuzzer.expect(header.length <= input.payload.count, "a message longer than its datagram: \(header)")
            events.append(event)
        }
        for event in events { checkNormalForm(of: event, input.decoder.byteOrder) }
    }

    /// What was decoded can be written and read again; and what was written once is written so for ever.
    ///
    /// The first writing may lose what the wire can't hold, such as a long text whose every byte was replaced.
    private static func checkNormalForm(of event: KernelEvent, _ byteOrder: ByteOrder) {
        let encoder = NetlinkEncoder(byteOrder: byteOrder, families: FuzzInput.families)
        let bytes = encoder.encode(event)
        let decoder = NetlinkDecoder(
            byteOrder: byteOrder,
            protocolNumber: event.protocolNumber,
            families: FuzzInput.families
        )
        var again: [KernelEvent] = []
        do throws(NetlinkDecodeError) {
            try decoder.decode(bytes.span.bytes) { again.append($1) }
        } catch {
            Fuzzer.expect(false, "\(event) was written so that it can't be read: \(error)")
        }
        Fuzzer.expect(again.count == 1, "\(event) was written and read as \(again)")
        for event in again {
            let twice = encoder.encode(event)
            Fuzzer.expect(twice == bytes, "\(event) is written differently the second time")
        }
    }
}
