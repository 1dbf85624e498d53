import CNetworkLab

/// The memory that malloc(3) has given out.
package enum LabHeap {
    /// How much of it is in use, in bytes (mallinfo(3)); 0 under a sanitizer, which has its own heap.
    ///
    /// Resident memory is less useful: freed memory stays resident for a while, and so does a sanitizer's own.
    package static var bytesInUse: Int { Int(mallinfo2().uordblks) }
}
