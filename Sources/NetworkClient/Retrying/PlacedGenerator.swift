/// The system's randomness, with a place in memory.
///
/// `SystemRandomNumberGenerator` is empty, so that by reference it may be handed on at any address; what the thread sanitizer
/// notes of that is written wherever it points.
struct PlacedGenerator: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count &+= 1
        return system.next()
    }
}
