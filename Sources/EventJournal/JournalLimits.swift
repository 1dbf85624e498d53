/// How much a journal keeps; the older events are removed first.
package struct JournalLimits: Hashable, Sendable {
    /// The age from which events are removed.
    package var age: Duration
    /// The size in bytes of what is stored from which events are removed.
    package var size: Int64

    /// Creates limits: by default 30 days and 64 MiB.
    package init(age: Duration = .seconds(30 * 86_400), size: Int64 = 64 << 20) {
        self.age = age
        self.size = size
    }
}
