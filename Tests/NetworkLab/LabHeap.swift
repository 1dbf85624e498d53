import CNetworkLab

/// The memory that malloc(3) has given out.
package enum LabHeap {
    /// How much of it is in use, in bytes (mallinfo(3)); 0 under a sanitizer, which has a heap of its own.
    ///
    /// Resident memory tells less: what is freed stays resident for a while, and so do a sanitizer's notes.
    package static var bytesInUse: Int { Int(mallinfo2().uordblks) }
}
