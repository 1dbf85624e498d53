import Locking

/// The failure of a store, as its thread reports it to the main thread.
final class StoreFailure: Sendable {
    private let value = Lock<String?>(nil)

    /// The failure; nil if the store works.
    var current: String? { value.withLock { $0 } }

    /// Sets the failure; nil if the store works again.
    func set(_ failure: String?) { value.withLock { $0 = failure } }
}
