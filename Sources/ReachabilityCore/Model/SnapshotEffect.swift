/// The change of the model by one event, or by one dump of a table.
///
/// An effect without change costs no allocation, since most messages of a busy machine change nothing here.
package struct SnapshotEffect: Sendable, Hashable {
    /// The reasons of the change, in order and without repetition; real differences only.
    package private(set) var reasons: [ReachabilityReason] = []
    /// The tables in which routes were removed or changed without a message.
    ///
    /// The kernel does so silently, so the model predicts it. A lookup should confirm it; where it does not, these
    /// tables are to be read again.
    package private(set) var predictions: [RouteTableKey] = []
    /// The tables to read again, because the messages do not contain what changed.
    ///
    /// Each is cheap to read, and rare.
    package private(set) var staleSubjects: [DumpSubject] = []

    /// The Wi-Fi interfaces that roamed to another access point.
    package private(set) var roams: [InterfaceIndex] = []

    /// Whether anything changed that the evaluation reads.
    package var changed: Bool { !reasons.isEmpty }

    /// Records that an interface roamed to another access point.
    mutating func noteRoam(of index: InterfaceIndex) {
        if !roams.contains(index) { roams.append(index) }
    }

    /// Adds a reason, once.
    mutating func add(_ reason: ReachabilityReason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    /// Records a table that was changed by prediction, once.
    mutating func predict(_ key: RouteTableKey) {
        if !predictions.contains(key) { predictions.append(key) }
    }

    /// Records a table to read again, once.
    mutating func markStale(_ subject: DumpSubject) {
        if !staleSubjects.contains(subject) { staleSubjects.append(subject) }
    }
}
