import ReachabilityCore

extension EventLoop {
    /// How many datagrams are taken before the machine is asked what to do, so that a storm does not starve it.
    private static let burst = 1_024

    /// Takes all that the kernel has told; one evaluation follows.
    func drainEvents() {
        for _ in 0..<Self.burst {
            switch sockets.events.receive(into: buffer) {
            case .datagram(let length):
                watcher.invalidate()
                take(length, NetlinkDecoder.route) { $0.receive($1, $2, at: $3) }
            case .empty: return
            case .foreign: alterMachine { $0.ignoreForeign() }
            case .overrun: return overrun()
            case .truncated(let length):
                buffer.grow(to: length)
                return overrun()
            case .failed: return alterMachine { $0.failed(at: Clock.now) }
            }
        }
    }

    /// Takes what the kernel tells of devices.
    func drainUevents() {
        while !run.isStopping {
            switch sockets.receiveUevent(into: buffer) {
            case .datagram(let length): take(length, NetlinkDecoder.uevent) { $0.receive($1, $2, at: $3) }
            case .foreign: alterMachine { $0.ignoreForeign() }
            case .overrun, .truncated: continue
            case .empty, .failed: return
            }
        }
    }

    /// Takes one datagram of answers to a dump; false if there is none.
    func receiveReply() -> Bool {
        switch sockets.requests.receive(into: buffer) {
        case .datagram(let length):
            alterMachine { $0.beginReply(at: Clock.now) }
            take(length, NetlinkDecoder.route) { $0.receiveReply($1, $2, at: $3) }
            return true
        case .foreign:
            alterMachine { $0.ignoreForeign() }
            return true
        case .empty: return false
        case .overrun, .truncated, .failed:
            alterMachine { $0.failed(at: Clock.now) }
            return false
        }
    }

    /// Decodes the datagram in the buffer; a message that is malformed is passed over.
    func take(
        _ length: Int,
        _ family: UInt16,
        _ feed: (inout MonitorStateMachine, KernelEvent, NetlinkHeader, Instant) -> Void
    ) {
        let now = Clock.now
        noteReading(at: now)
        let decoder = NetlinkDecoder(protocolNumber: family, defaultLikeRoutesOnly: true, families: families)
        buffer.withDatagram(length) { bytes in
            if let tap = configuration.tap { tap(.init(fromKernel: bytes, family)) }
            alterMachine { machine in
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

    /// Hands a datagram to the tap.
    func record(_ bytes: @autoclosure () -> [UInt8], _ direction: CaptureEvent.Direction, _ family: UInt16) {
        guard let tap = configuration.tap else { return }
        tap(.init(time: Clock.wall, direction: direction, protocolNumber: family, bytes: bytes()))
    }
}

extension CaptureEvent {
    fileprivate init(fromKernel bytes: RawSpan, _ family: UInt16) {
        let copy = bytes.withUnsafeBytes { [UInt8]($0) }
        self.init(time: Clock.wall, direction: .fromKernel, protocolNumber: family, bytes: copy)
    }
}
