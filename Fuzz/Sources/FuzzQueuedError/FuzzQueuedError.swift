import FuzzSupport
import ReachabilityCore

/// Any bytes as the control messages of a datagram from a socket's error queue.
@main
enum FuzzQueuedError {
    static func main() {
        Fuzzer.run { start, count in
            FuzzQueuedError.run(UnsafeRawBufferPointer(start: start, count: count))
            return 0
        }
    }

    private static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let error = QueuedSocketError(controlMessages: bytes.bytes) else { return }
        // A control message, the structure, and of an ICMP error the address of its sender.
        Fuzzer.expect(bytes.count >= 32, "\(error) from \(bytes.count) bytes")
        switch error.origin {
        case .local: Fuzzer.expect(error.icmpError == nil, "a local error with an ICMP message: \(error)")
        case .icmp, .icmpv6:
            Fuzzer.expect(error.offender != nil, "no sender: \(error)")
            _ = error.icmpError
        }
    }
}
