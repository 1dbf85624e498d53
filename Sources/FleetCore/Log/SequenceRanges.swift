/// A set of the numbers of events, as ranges.
struct SequenceRanges: Hashable, Sendable {
    /// In order, without contact.
    private(set) var ranges: [ClosedRange<UInt64>] = []

    /// More ranges are not kept: the holes between the first ones are forgotten.
    static let capacity = 256

    var first: UInt64? { ranges.first?.lowerBound }
    var last: UInt64? { ranges.last?.upperBound }

    /// Returns whether a number is in the set.
    func contains(_ number: UInt64) -> Bool {
        let place = place(of: number)
        return place < ranges.count && ranges[place].contains(number)
    }

    /// Returns whether all numbers of a range are in the set.
    func contains(_ range: ClosedRange<UInt64>) -> Bool {
        let place = place(of: range.lowerBound)
        return place < ranges.count && ranges[place].contains(range.lowerBound)
            && ranges[place].upperBound >= range.upperBound
    }

    /// Returns how many numbers from one up to another are missing.
    func holes(from first: UInt64, upTo last: UInt64) -> UInt64 {
        guard first < last else { return 0 }
        let present = ranges.reduce(UInt64(0)) { sum, range in
            guard range.upperBound >= first, range.lowerBound <= last else { return sum }
            return sum &+ (min(range.upperBound, last) &- max(range.lowerBound, first) &+ 1)
        }
        return last &- first &+ 1 &- present
    }

    /// Adds a number.
    ///
    /// - Returns: Whether it was not in the set.
    mutating func insert(_ number: UInt64) -> Bool {
        let place = place(of: number)
        if place < ranges.count, ranges[place].contains(number) { return false }
        let joinsBefore = place > 0 && ranges[place - 1].upperBound == number &- 1
        let joinsAfter = place < ranges.count && ranges[place].lowerBound == number &+ 1
        switch (joinsBefore, joinsAfter) {
        case (true, true):
            ranges[place - 1] = ranges[place - 1].lowerBound...ranges[place].upperBound
            ranges.remove(at: place)
        case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound...number
        case (false, true): ranges[place] = number...ranges[place].upperBound
        case (false, false): ranges.insert(number...number, at: place)
        }
        if ranges.count > Self.capacity { forgetHoles(below: ranges[1].upperBound) }
        return true
    }

    /// Forgets the holes below a number, as if all from the first one on had been there.
    mutating func forgetHoles(below number: UInt64) {
        let count = ranges.prefix { $0.lowerBound <= number }.count
        guard count > 1 else { return }
        ranges.replaceSubrange(..<count, with: [ranges[0].lowerBound...ranges[count - 1].upperBound])
    }

    /// The position of the first range that ends at a number or above, by bisection.
    private func place(of number: UInt64) -> Int {
        guard let last = ranges.last, last.upperBound >= number else { return ranges.count }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
