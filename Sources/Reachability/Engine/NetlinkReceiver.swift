import LinuxSystem
import ReachabilityCore

/// Receives the kernel's messages and feeds them to the state machine, and sends the requests for dumps.
///
/// Confined to the event thread, except while it is created.
final class NetlinkReceiver {
    /// The families of generic netlink that the kernel has.
    private(set) var families = GenericFamilies()
    /// The number of datagrams about links, addresses, routes and rules: any of them may change a route.
    private(set) var eventDatagrams: UInt64 = 0
    /// When the first datagram since ``beginBatch()`` was received; nil if there is none.
    private(set) var batchStart: Instant?

    private let machine: ConfinedMachine
    private let run: EngineRun
    private let poll: EventPoll
    private let namespace: NetworkNamespaceHandle
    private let tap: (@Sendable (CaptureEvent) -> Void)?
    private let bufferSize: Int
    private let buffer = ReceiveBuffer()
    private var sockets: ReceiverSockets
    /// The addresses whose own routes are received.
    private var destinations: Set<IPAddress>
    private var receivesNeighbours = false

    /// The number of datagrams that are taken before the state machine's actions are performed, so that a storm does not
    /// starve it.
    private static let maximumBatch = 1_024
    /// The number of batches in a full receive buffer of 8 MiB, at less than 1 KiB for a datagram of one message.
    private static let largestQueue = 16

    /// Opens the sockets.
    ///
    /// - Parameters:
    ///   - namespace: The network namespace that is watched.
    ///   - machine: The machine that is fed.
    ///   - run: The run that this is a part of.
    ///   - configuration: The receive buffer's size, and the tap.
    ///   - poll: The wait of the event thread, to which the sockets are added.
    ///   - destinations: The addresses whose own routes are received.
    /// - Throws: ``ReachabilityError`` if a socket cannot be opened.
    init(
        in namespace: NetworkNamespaceHandle,
        _ machine: ConfinedMachine,
        _ run: EngineRun,
        _ configuration: MonitorConfiguration,
        _ poll: EventPoll,
        destinations: Set<IPAddress>
    ) throws(ReachabilityError) {
        self.namespace = namespace
        self.machine = machine
        self.run = run
        self.poll = poll
        self.destinations = destinations
        tap = configuration.tap
        bufferSize = configuration.receiveBufferSize
        sockets = try ReceiverSockets(in: namespace, bufferSize: bufferSize, destinations: destinations)
        try register()
    }

    /// Closes the sockets and opens them again, with the same groups.
    ///
    /// - Throws: ``ReachabilityError`` if a socket cannot be opened.
    func reopen() throws(ReachabilityError) {
        sockets = try ReceiverSockets(in: namespace, bufferSize: bufferSize, destinations: destinations)
        try register()
        guard receivesNeighbours else { return }
        do throws(NetlinkError) { try sockets.receiveNeighbours(true) } catch { throw ReachabilityError(error) }
    }

    /// Adds the sockets to the wait, and asks for the families of generic netlink.
    private func register() throws(ReachabilityError) {
        try poll.add(sockets.events.descriptor, for: .events)
        try poll.add(sockets.requests.descriptor, for: .replies)
        if let uevents = sockets.uevents { try poll.add(uevents.descriptor, for: .uevents) }
        if let generic = sockets.generic { try poll.add(generic.descriptor, for: .generic) }
        requestFamilies()
    }
}

// MARK: - Requests

extension NetlinkReceiver {
    /// Sends the request for a dump.
    ///
    /// - Throws: ``NetlinkError`` if the socket takes none.
    func requestDump(_ subject: DumpSubject, sequence: UInt32) throws(NetlinkError) {
        let request = NetlinkRequests.dump(subject, sequence: sequence)
        record(request, .toKernel, NetlinkDecoder.route)
        try sockets.requests.send(request)
    }

    /// Receives the routes that could cover some addresses, and no longer those of the addresses from before.
    ///
    /// - Returns: Whether the addresses are other ones than before.
    /// - Throws: ``NetlinkError`` if the kernel does not take the filter.
    func receiveRoutes(to destinations: Set<IPAddress>) throws(NetlinkError) -> Bool {
        guard destinations != self.destinations else { return false }
        self.destinations = destinations
        try SocketFilter.routes(covering: destinations).attach(to: sockets.events.descriptor)
        return true
    }

    /// Joins the neighbours' group, or leaves it.
    ///
    /// - Throws: ``NetlinkError`` if the kernel refuses.
    func receiveNeighbours(_ receives: Bool) throws(NetlinkError) {
        receivesNeighbours = receives
        try sockets.receiveNeighbours(receives)
    }

    /// Asks which families of generic netlink there are; the replies come before those about interfaces.
    private func requestFamilies() {
        families = .init()
        let request = NetlinkRequests.families(sequence: 1)
        guard let generic = sockets.generic, (try? generic.send(request)) != nil else { return }
        record(request, .toKernel, NetlinkDecoder.generic)
    }
}

// MARK: - Receiving

extension NetlinkReceiver {
    /// Begins a batch of messages, which are evaluated together.
    func beginBatch() { batchStart = nil }

    /// Takes what is queued about links, routes and their like, and then all about Wi-Fi.
    ///
    /// In this order, as the messages about links are the older ones: the kernel announces the loss of a carrier up to a
    /// second late, and nl80211 the end of an association immediately. Without nl80211 the second part costs nothing.
    func drain(isGenericReady: Bool = false) {
        _ = drainEvents()
        if isGenericReady || families.nl80211 != 0 { drainGeneric() }
    }

    /// Takes all that was queued about links, routes and their like when it was called, and then all about Wi-Fi.
    ///
    /// In a storm, more is queued all the time: what a full receive buffer holds is enough.
    func drainWholly() {
        for _ in 0..<Self.largestQueue {
            if drainEvents() { break }
        }
        if families.nl80211 != 0 { drainGeneric() }
    }

    /// Takes all queued uevents.
    func drainUevents() {
        guard let uevents = sockets.uevents else { return }
        while !run.isStopping {
            switch uevents.receive(into: buffer) {
            case .datagram(let length): decode(length, NetlinkDecoder.uevent) { $0.receive($1, $2, at: $3) }
            case .foreign: machine.with { $0.ignoreForeign() }
            case .overrun, .truncated: continue
            case .empty, .failed: return
            }
        }
    }

    /// Takes one datagram of a dump's reply.
    ///
    /// - Returns: Whether there was one.
    func receiveReply() -> Bool {
        switch sockets.requests.receive(into: buffer) {
        case .datagram(let length):
            machine.with { $0.beginReply(at: SystemClock.now) }
            decode(length, NetlinkDecoder.route) { $0.receiveReply($1, $2, at: $3) }
            return true
        case .foreign:
            machine.with { $0.ignoreForeign() }
            return true
        case .empty: return false
        case .overrun, .truncated, .failed:
            machine.with { $0.failed(at: SystemClock.now) }
            return false
        }
    }

    /// Takes a batch of datagrams.
    ///
    /// - Returns: Whether nothing is left.
    private func drainEvents() -> Bool {
        for _ in 0..<Self.maximumBatch {
            switch sockets.events.receive(into: buffer) {
            case .datagram(let length):
                eventDatagrams &+= 1
                decode(length, NetlinkDecoder.route) { $0.receive($1, $2, at: $3) }
                continue
            case .foreign:
                machine.with { $0.ignoreForeign() }
                continue
            case .empty: break
            case .overrun: recoverFromOverrun()
            case .truncated(let length):
                buffer.grow(to: length)
                recoverFromOverrun()
            case .failed: machine.with { $0.failed(at: SystemClock.now) }
            }
            return true
        }
        return false
    }

    /// Decodes the datagram in the buffer, and feeds its messages to the machine; malformed messages are skipped.
    private func decode(
        _ length: Int,
        _ protocolNumber: UInt16,
        _ feed: (inout MonitorStateMachine, KernelEvent, NetlinkHeader, Instant) -> Void
    ) {
        let now = SystemClock.now
        if batchStart == nil { batchStart = now }
        let decoder = NetlinkDecoder(protocolNumber: protocolNumber, defaultLikeRoutesOnly: true, families: families)
        buffer.withDatagram(length) { bytes in
            if tap != nil { record(bytes.withUnsafeBytes { [UInt8]($0) }, .fromKernel, protocolNumber) }
            machine.with { machine in
                var start: Int? = 0
                while let position = start {
                    start = nil
                    do throws(NetlinkDecodeError) {
                        try decoder.decode(bytes, from: position) { feed(&machine, $1, $0, now) }
                    } catch {
                        machine.ignoreMalformed()
                        start = error.nextMessageOffset
                    }
                }
            }
        }
    }

    /// Passes a datagram to the tap.
    func record(_ bytes: @autoclosure () -> [UInt8], _ direction: CaptureEvent.Direction, _ protocolNumber: UInt16) {
        guard let tap else { return }
        let time = UInt64(clamping: SystemClock.nanosecondsSince1970)
        tap(.init(time: time, direction: direction, protocolNumber: protocolNumber, bytes: bytes()))
    }
}

// MARK: - Overruns

extension NetlinkReceiver {
    /// Recovers from messages that the kernel dropped because the event socket's buffer was full.
    ///
    /// The kernel adds nothing to a queue that has overrun before the queue is empty, and does not report what it drops
    /// until then. Everything queued is older than the dumps that follow, so a new socket receives what comes after. That
    /// takes some microseconds, however long the queue: the kernel frees it later, by itself.
    private func recoverFromOverrun() {
        do throws(ReachabilityError) {
            if renewEventSocket() {
                try poll.add(sockets.events.descriptor, for: .events)
            } else {
                try emptyEventSocket()
            }
            eventDatagrams &+= 1
            machine.with { $0.overrun(at: SystemClock.now) }
        } catch {
            machine.with { $0.failed(at: SystemClock.now) }
        }
    }

    /// Opens a new event socket in place of the old one, whose queue is dropped with it.
    ///
    /// - Returns: Whether there is one; there is none if too many files are open, or memory is short.
    private func renewEventSocket() -> Bool {
        do throws(NetlinkError) {
            try sockets.renewEvents(
                bufferSize: bufferSize,
                destinations: destinations,
                receivesNeighbours: receivesNeighbours
            )
            return true
        } catch {
            return false
        }
    }

    /// Empties the event socket message by message.
    private func emptyEventSocket() throws(ReachabilityError) {
        while !run.isStopping {
            switch sockets.events.receive(into: buffer) {
            case .datagram, .foreign, .overrun, .truncated: continue
            case .empty: return
            case .failed(let errno): throw ReachabilityError(.netlinkFailed, errno: errno, "recvmsg")
            }
        }
    }
}

// MARK: - Generic netlink

extension NetlinkReceiver {
    private func drainGeneric() {
        guard let generic = sockets.generic else { return }
        var isLost = false
        while !run.isStopping {
            switch generic.receive(into: buffer) {
            case .datagram(let length): takeGeneric(length)
            case .foreign: machine.with { $0.ignoreForeign() }
            case .overrun: isLost = true
            case .truncated(let length):
                buffer.grow(to: length)
                isLost = true
            // Everything queued is older than the loss.
            case .empty, .failed:
                if isLost { machine.with { $0.overrunWireless(at: SystemClock.now) } }
                return
            }
        }
    }

    private func takeGeneric(_ length: Int) {
        let isOfController = buffer.withDatagram(length) { GenericDatagram.isOfController($0) }
        guard isOfController else { return decode(length, NetlinkDecoder.generic) { $0.receive($1, $2, at: $3) } }
        let families = buffer.withDatagram(length, GenericDatagram.families)
        for (header, family) in families where GenericFamilies.reads(family) { learn(family, header) }
    }

    /// Takes a family whose messages are decoded; the others, which are many, are not recorded either.
    private func learn(_ family: GenericFamily, _ header: NetlinkHeader) {
        families.note(family)
        sockets.join(family)
        record(
            NetlinkEncoder().encode(.family(family), flags: header.flags, sequence: header.sequence, port: header.port),
            .fromKernel,
            NetlinkDecoder.generic
        )
        if !header.flags.contains(.multi) { machine.with { $0.receiveNew(family) } }
    }
}

/// A datagram of generic netlink.
private enum GenericDatagram {
    /// Whether it is about families: `nlmsg_type` of the first message is `GENL_ID_CTRL`, or ends such a dump.
    static func isOfController(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= NetlinkHeader.size else { return false }
        return bytes.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt16.self) <= 0x10
    }

    /// The families in it.
    static func families(_ bytes: RawSpan) -> [(NetlinkHeader, GenericFamily)] {
        var families: [(NetlinkHeader, GenericFamily)] = []
        try? NetlinkDecoder(protocolNumber: NetlinkDecoder.generic).decode(bytes) { header, event in
            if case .family(let family) = event { families.append((header, family)) }
        }
        return families
    }
}
