import Glibc
public import NetworkLab

/// A gate that is opened once, from any thread; who waits for it polls a descriptor.
public final class ServerLatch: Sendable {
    private let ends: (waiting: OwnedDescriptor, opening: OwnedDescriptor)

    /// Makes a closed one.
    ///
    /// The corresponding C function is `socketpair`.
    public init() throws(LabError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &numbers) }
        ends = (OwnedDescriptor(numbers[0]), OwnedDescriptor(numbers[1]))
    }

    /// Lets all pass, now and later.
    public func open() { ends.opening.close() }

    /// The descriptor which is readable once the latch is open.
    var descriptor: Int32 { ends.waiting.number }
}
