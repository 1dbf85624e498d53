import CNetworkLab
import Glibc
package import NetworkLab

/// A gate that is opened once, from any thread; threads wait for it by polling a descriptor.
package final class ServerLatch: Sendable {
    private let event: OwnedDescriptor

    /// Creates a closed latch.
    ///
    /// The corresponding C function is `eventfd`. (It is not a socket, so that tests for leaked sockets do not count
    /// it.)
    package init() throws(LabError) {
        event = OwnedDescriptor(try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC)) })
    }

    /// Opens the latch for good.
    package func open() {
        var one: UInt64 = 1
        write(event.number, &one, MemoryLayout<UInt64>.size)
    }

    /// The descriptor that is readable once the latch is open.
    var descriptor: Int32 { event.number }
}
