import CNetworkLab
import Glibc
package import NetworkLab

/// A gate that is opened once, from any thread; who waits for it polls a descriptor.
package final class ServerLatch: Sendable {
    private let event: OwnedDescriptor

    /// Makes a closed one.
    ///
    /// The corresponding C function is `eventfd`. (Nothing of it is a socket, which a test of leaks would count.)
    package init() throws(LabError) {
        event = OwnedDescriptor(try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC)) })
    }

    /// Lets all pass, now and later.
    package func open() {
        var one: UInt64 = 1
        write(event.number, &one, MemoryLayout<UInt64>.size)
    }

    /// The descriptor which is readable once the latch is open.
    var descriptor: Int32 { event.number }
}
