import Glibc

/// The memory into which datagrams are received, one after the other.
///
/// Confined to the thread of its owner: what lies in it is valid until the next receive.
final class ReceiveBuffer {
    /// Enough for everything that the kernel puts in one datagram of rtnetlink, 32 KiB at most for dumps.
    static let defaultSize = 64 << 10

    private(set) var storage: UnsafeMutableRawBufferPointer

    init(size: Int = defaultSize) {
        storage = .allocate(byteCount: size, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// Makes room for a datagram that was cut off, so that the next of its kind is not.
    func grow(to size: Int) {
        guard size > storage.count, size <= Self.largestSize else { return }
        storage.deallocate()
        storage = .allocate(byteCount: size, alignment: 16)
    }

    /// No datagram of rtnetlink comes near.
    private static let largestSize = 16 << 20

    /// Forgets what was received: explicit_bzero(3), which no compiler leaves out.
    func erase() {
        if let start = storage.baseAddress { explicit_bzero(start, storage.count) }
    }

    /// The datagram that was received last, for as long as the closure runs.
    func withDatagram<Result>(_ length: Int, _ body: (RawSpan) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: storage[..<min(length, storage.count)]).bytes)
    }
}
