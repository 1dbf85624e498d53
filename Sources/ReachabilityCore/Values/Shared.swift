/// Fields that are kept once and shared, because they are handed on far more often than altered.
///
/// A path holds some thirty words and a dozen references. Between the kernel's message and the notice it goes from room
/// to room, and to each subscriber; shared, it goes as one reference.
///
/// That fields are compared is asked for by the extensions alone: to make a type of a type that must be `Hashable`, the
/// runtime searches all of the program's conformances, at the very start, for each.
struct Shared<Fields: Sendable>: Sendable {
    private var storage: Storage

    init(_ fields: Fields) { storage = .init(fields) }

    /// The fields; altering them makes a copy.
    var fields: Fields {
        @inline(__always) get { storage.fields }
        set { storage = .init(newValue) }
    }

    private final class Storage: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }
}

extension Shared: Equatable where Fields: Equatable {
    /// Compares what they hold, if they are not one and the same.
    static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.storage.fields == right.storage.fields
    }
}

extension Shared: Hashable where Fields: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }
}
