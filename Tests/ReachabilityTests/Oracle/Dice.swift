/// A SplitMix64 generator for random stories: the same numbers everywhere for a seed.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true once in a number of times, on average.
    mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// A number of a range.
    mutating func roll<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number {
        .random(in: range, using: &self)
    }

    /// One of several.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }
}
