/// Copy-on-write storage for fields that are passed on far more often than changed.
///
/// A path has about thirty words and a dozen references and is passed from the evaluation to each subscriber; shared, it
/// is passed as one reference.
///
/// `Fields` is constrained to `Hashable` in extensions only. With the constraint on the type itself, the runtime would
/// search all protocol conformances of the program at its start, for each such type.
struct Shared<Fields: Sendable>: Sendable {
    private var storage: Storage

    init(_ fields: Fields) { storage = .init(fields) }

    /// The fields; changing them copies the storage.
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
    /// Compares the storage, then the fields.
    static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.storage.fields == right.storage.fields
    }
}

extension Shared: Hashable where Fields: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }
}
