package import ReachabilityCore

extension NetlinkDecoder {
    /// Decodes a datagram as those do who must not stop at a fault: each error's way on is taken.
    ///
    /// Every error has to lie within the datagram, and going on has to lead further.
    package func decodeAll(_ bytes: RawSpan, _ body: (NetlinkHeader, KernelEvent) -> Void) {
        var start = 0
        while true {
            do throws(NetlinkDecodeError) {
                return try decode(bytes, from: start, body)
            } catch {
                Fuzzer.expect(error.offset <= bytes.byteCount, "the error lies outside: \(error)")
                Fuzzer.expect(error.messageOffset >= start, "the error lies before the start: \(error)")
                guard let next = error.nextMessageOffset else { return }
                Fuzzer.expect(next > start && next < bytes.byteCount, "it goes on at \(next): \(error)")
                start = next
            }
        }
    }
}
