public import Synchronization

/// A value behind a lock, as `Mutex`, that the thread sanitizer understands.
///
/// On Linux, `Mutex` locks inside the standard library, where the sanitizer sees nothing: it would call every use a
/// race. Each turn here also reads and writes an atomic under the lock, which orders the turns for the sanitizer; to the
/// processor it is one more load and one more store.
///
/// It is public, in a module that no product has, because the compiler specializes generic code of another module only if it
/// is public.
public struct Lock<Value: ~Copyable>: ~Copyable {
    @usableFromInline
    let mutex: Mutex<Value>
    @usableFromInline
    let turns = Atomic<UInt8>(0)

    /// Makes a lock around a value.
    @inlinable
    public init(_ value: consuming sending Value) {
        mutex = .init(value)
    }

    /// Runs a closure that has the value for itself.
    ///
    /// No subscriber is called, no continuation resumed and nothing logged in there.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = turns.load(ordering: .acquiring)
            defer { turns.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Lock: Sendable where Value: ~Copyable {}
