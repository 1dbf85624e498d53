import NetworkLab
import ReachabilityCore
import Testing

struct NetlinkMutationTests {
    /// Messages with some bytes changed, removed or duplicated never cause a trap.
    @Test(arguments: ByteOrder.allCases, [11, 12] as [UInt64])
    func `any bytes are decoded or refused`(byteOrder: ByteOrder, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<20_000 {
            let event = generator.event()
            let encoder = NetlinkEncoder(byteOrder: byteOrder, families: .some)
            var bytes = encoder.encode(event)
            bytes += encoder.encode(generator.event())
            generator.mutate(&bytes)
            if (try? decoded(bytes, byteOrder, of: event.protocolNumber)) == nil { refused += 1 }
        }
        #expect((1_000...19_000).contains(refused))
    }
}

extension SeededGenerator {
    /// Changes a few bytes, to values that are often lengths or limits, or changes the number of bytes.
    mutating func mutate(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...6, using: &self) where !bytes.isEmpty {
            let position = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<10, using: &self) {
            case 0: bytes.removeLast(min(bytes.count, Int.random(in: 1...8, using: &self)))
            case 1: bytes.insert(number(), at: position)
            default: bytes[position] = pick([0, 1, 2, 3, 4, 5, 7, 8, 0x7F, 0x80, 0xFF, number()])
            }
        }
    }
}
