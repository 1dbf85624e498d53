import LinuxSystem
import Locking
import ReachabilityCore

/// Asks about devices one after the other, on a thread that exists only while there are questions.
///
/// The kernel may keep a question waiting for as long as a driver holds the configuration lock: a wait that the event
/// thread must not share, and that stopping a monitor does not wait for.
final class DeviceInquirer: Sendable {
    private let socket: Lock<DeviceSocket>
    private let queue = Lock<Queue>(.init())

    private struct Queue {
        var waiting: [Item] = []
        var isWorking = false
    }

    /// A question, which is given the sockets to ask with.
    typealias Question = @Sendable (inout DeviceSocket) -> DeviceReport

    private typealias Item = @Sendable (inout DeviceSocket) -> @Sendable () -> Void

    /// Opens its socket.
    ///
    /// - Parameter namespace: The network namespace of the devices.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(in namespace: NetworkNamespaceHandle) throws(NetlinkError) {
        socket = .init(try DeviceSocket(in: namespace))
    }

    /// Asks a question, and calls a closure with its result, on the inquirer's own thread.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (inout DeviceSocket) -> Value,
        completion: @escaping @Sendable (Value) -> Void
    ) {
        let item: Item = { socket in
            let found = question(&socket)
            return { completion(found) }
        }
        let starts = queue.withLock { queue in
            queue.waiting.append(item)
            defer { queue.isWorking = true }
            return !queue.isWorking
        }
        guard starts else { return }
        do throws(SystemError) {
            try SystemThread.detach("netwatch-probe", work)
        } catch {
            // Where the machine has no thread to give, the pool of Swift's tasks must do.
            Task.detached { self.work() }
        }
    }

    private func work() {
        while let item = next() {
            let complete = socket.withLock { item(&$0) }
            complete()
        }
    }

    private func next() -> Item? {
        queue.withLock { queue in
            guard queue.waiting.isEmpty else { return queue.waiting.removeFirst() }
            queue.isWorking = false
            return nil
        }
    }
}

/// The report about a device: messages for the state machine and for recordings.
struct DeviceReport: Sendable {
    let index: InterfaceIndex
    let name: String
    private(set) var messages: [Message] = []

    /// One message, as the kernel would send it.
    struct Message: Sendable {
        let event: KernelEvent
        /// The families of generic netlink by whose numbers it is encoded.
        fileprivate let families: GenericFamilies

        /// Its bytes, for a recording.
        var datagram: [UInt8] { NetlinkEncoder(families: families).encode(event) }
    }

    /// Adds what was found.
    mutating func append(_ event: KernelEvent, _ families: GenericFamilies = .init()) {
        messages.append(.init(event: event, families: families))
    }

    /// Ends the report.
    mutating func end(_ findings: DeviceFindings) { append(.uevent(findings.message)) }

    /// Ends the report about an interface whose kind is known.
    mutating func end(_ probe: DeviceProbe) {
        var message = UeventMessage(action: .add, interface: name, index: index)
        message.probe = probe
        append(.uevent(message))
    }
}
