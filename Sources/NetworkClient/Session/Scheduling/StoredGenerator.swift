/// The system's random number generator with a stored property, so that it has an address of its own.
///
/// `SystemRandomNumberGenerator` is empty, so an `inout` reference to it may have any address, at which the thread
/// sanitizer then records a write.
package struct StoredGenerator: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var count: UInt64 = 0

    /// Makes a generator.
    package init() {}

    /// Returns the next random bits.
    package mutating func next() -> UInt64 {
        count &+= 1
        return system.next()
    }
}
