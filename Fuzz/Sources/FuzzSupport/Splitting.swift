/// The pieces in which an input arrives: as TCP may split it.
public struct Splitting: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var state: UInt64

    /// Splits bytes by chance that begins with a seed; 0 for all in one piece, 1 for each alone.
    public init(_ bytes: [UInt8], seed: UInt8) {
        rest = bytes[...]
        state = UInt64(seed)
    }

    /// Returns the next piece; nil at the end.
    public mutating func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(length)
        rest = rest.dropFirst(piece.count)
        return Array(piece)
    }

    private var length: Int {
        mutating get {
            if state < 2 { return state == 0 ? rest.count : 1 }
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % 7 + 1
        }
    }
}
