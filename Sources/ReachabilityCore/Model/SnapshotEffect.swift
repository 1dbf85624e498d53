/// What one event, or one reading of a table, changed in the model.
///
/// An effect without change costs no allocation, as most messages of a busy machine change nothing here.
public struct SnapshotEffect: Sendable, Hashable {
    /// What changed, in the order in which it was seen, without repetition; real differences only.
    public private(set) var reasons: [Reason] = []
    /// The tables from which routes were taken, or in which they were altered, without the kernel's word.
    ///
    /// The kernel does so without a message, so the model predicts it. A look-up should confirm it; where it does not,
    /// these tables are to be read again.
    public private(set) var predictions: [RouteTableKey] = []
    /// What is to be read again, as the messages don't tell it and nothing here can know it.
    ///
    /// Each is cheap to read, and rare.
    public private(set) var doubts: [DumpSubject] = []

    /// The WiFi interfaces that went over to another access point.
    public private(set) var roams: [InterfaceIndex] = []

    /// Makes the effect of an event that changed nothing.
    public init() {}

    /// Whether anything changed that the evaluation reads.
    public var changed: Bool { !reasons.isEmpty }

    /// Adds another effect to this one, in order.
    public mutating func merge(_ other: Self) {
        for reason in other.reasons { add(reason) }
        for key in other.predictions { predict(key) }
        for subject in other.doubts { doubt(subject) }
        for index in other.roams { noteRoam(of: index) }
    }

    /// Notes that an interface went over to another access point.
    mutating func noteRoam(of index: InterfaceIndex) {
        if !roams.contains(index) { roams.append(index) }
    }

    /// Notes a difference, once.
    mutating func add(_ reason: Reason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    /// Notes a table that was changed by prediction, once.
    mutating func predict(_ key: RouteTableKey) {
        if !predictions.contains(key) { predictions.append(key) }
    }

    /// Notes something to be read again, once.
    mutating func doubt(_ subject: DumpSubject) {
        if !doubts.contains(subject) { doubts.append(subject) }
    }

    /// Hands out the doubts, to be resolved by whoever reads tables; none are left.
    public mutating func takeDoubts() -> [DumpSubject] {
        defer { doubts = [] }
        return doubts
    }
}
