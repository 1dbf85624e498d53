import OutboxCore

/// The parcels of a lane that are read before they can be sent, so that not each needs a query.
///
/// They are dropped whenever the lanes are read, and when an item of the lane waits again. What has changed since stops a
/// parcel in the transaction that marks it, before its first byte.
struct ReadAhead {
    private var parcels: ArraySlice<Parcel> = []
    /// Whether the lane has no further parcels for now.
    private var isComplete = false
    /// The time at which there may be more without another event.
    private(set) var next: BoxTime?
    /// The number of parcels that are read beyond those that can be sent.
    private(set) var size = 0
    private var isFilled = false

    private static let sizes = 16...128

    /// Adds what was read; more is read the next time if all of it was taken.
    mutating func fill(_ supply: LaneSupply) {
        parcels = supply.parcels[...]
        (isComplete, next, isFilled) = (supply.isComplete, supply.next, true)
    }

    /// Whether a number of parcels can be taken without reading.
    func has(_ count: Int) -> Bool { isFilled && (isComplete || parcels.count >= count) }

    /// Whether more should be read, although none can be sent now.
    var isLow: Bool { size > 0 && !(isComplete && isFilled) && parcels.count <= size / 4 }

    /// Takes the next parcel; nil if none is left.
    mutating func take() -> Parcel? { parcels.popFirst() }

    /// Notes that more is needed than was read.
    mutating func grow() { if isFilled { size = min(max(size * 2, Self.sizes.lowerBound), Self.sizes.upperBound) } }

    /// Drops the parcels.
    mutating func drop() {
        if parcels.count > size / 2 { size = size / 2 < Self.sizes.lowerBound ? 0 : size / 2 }
        (parcels, isComplete, isFilled, next) = ([], false, false, nil)
    }
}
