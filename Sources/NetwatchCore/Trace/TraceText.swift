package import ReachabilityCore

/// The words for a trace.
package struct TraceText: Sendable {
    /// The address that is traced.
    package var destination: IPAddress
    /// The name that it was resolved from; nil if an address was given.
    package var host: String?
    /// The interface that the packets leave by; nil if there is none.
    package var interface: String?
    /// The next hop; nil if the destination is on the link.
    package var gateway: IPAddress?
    /// The TCP port of the probes; nil for UDP.
    package var port: UInt16?
    /// The limits of the trace, and its packets.
    package var settings: TraceSettings

    /// Why the path is not usable, if the kernel sends packets nevertheless.
    package var reason: ReachabilityReason?

    /// Creates the words for a destination.
    package init(to destination: IPAddress, _ settings: TraceSettings = .init()) {
        self.destination = destination
        self.settings = settings
    }

    /// The line before the hops: `to 203.0.113.7 by UDP, through wlan0, gateway 192.0.2.1`.
    package var head: String {
        let name = host.map { "\($0.escapedForTerminal) (\(destination))" } ?? destination.description
        let transport = port.map { "TCP to port \($0)" } ?? "UDP"
        let interface = interface.map { ", through \($0.escapedForTerminal)" } ?? ""
        return "to \(name) by \(transport)" + interface + (gateway.map { ", gateway \($0)" } ?? "")
    }

    /// Returns the line of a hop: `3  198.51.100.1  1.23 ms  host unreachable`.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - name: The name of its address, if one is known.
    /// - Returns: The line, without its end.
    package static func line(_ hop: TraceHop, name: String? = nil) -> String {
        let number = number(hop.number)
        guard let answer = hop.answer else { return "\(number)  *" }
        let address = name.map { "\($0.escapedForTerminal) (\(answer.address))" } ?? answer.address.description
        let narrowing = hop.narrowing.map { "; \($0.address) says: packet too big, MTU \($0.mtu)" } ?? ""
        return "\(number)  \(address)  \(roundTrip(answer.roundTrip))  \(words(answer.meaning))" + narrowing
    }

    /// Returns the line of the silent hops at the end of a path: `3-30  *`.
    package static func line(silent hops: ClosedRange<Int>) -> String {
        hops.count == 1 ? "\(number(hops.lowerBound))  *" : "\(number(hops.lowerBound))-\(hops.upperBound)  *"
    }

    /// Right-aligned in two columns.
    private static func number(_ number: Int) -> String { (number < 10 ? " " : "") + String(number) }

    /// Returns a round trip in milliseconds, to three digits: `0.31 ms`, `12.3 ms`, `3012 ms`.
    package static func roundTrip(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return switch microseconds {
        case ..<9_995: decimal((microseconds + 5) / 10, places: 2) + " ms"
        case ..<99_950: decimal((microseconds + 50) / 100, places: 1) + " ms"
        default: "\((microseconds + 500) / 1000) ms"
        }
    }

    private static func decimal(_ value: Int64, places: Int) -> String {
        let digits = String(value)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return padded.dropLast(places) + "." + padded.suffix(places)
    }

    private static func words(_ meaning: TraceHop.Meaning) -> String {
        switch meaning {
        case .router: words(.timeExceeded)
        case .rejection(let error), .destination(.error(let error)): words(error)
        case .destination(.response(.accepted)): "connection accepted"
        case .destination(.response(.reset)): "connection reset"
        case .destination(.response(.datagram)): "datagram"
        }
    }

    private static func words(_ error: ICMPError) -> String {
        switch error {
        case .timeExceeded: "time exceeded"
        case .networkUnreachable: "network unreachable"
        case .hostUnreachable: "host unreachable"
        case .protocolUnreachable: "protocol unreachable"
        case .portUnreachable: "port unreachable"
        case .prohibited: "administratively prohibited"
        case .packetTooBig(let mtu): mtu == 0 ? "packet too big" : "packet too big, MTU \(mtu)"
        case .other(let type, let code): "ICMP type \(type), code \(code)"
        }
    }
}

// MARK: - The sentence

extension TraceText {
    /// Returns the result in a sentence or two: how far packets come, and where the trouble is.
    ///
    /// - Parameters:
    ///   - verdict: The result.
    ///   - narrowing: What answered that probes were too big.
    ///   - errorText: Returns the text of an errno (strerror(3)).
    /// - Returns: The text, without the end of a line.
    package func sentence(
        _ verdict: TraceVerdict,
        narrowing: TraceHop.Narrowing? = nil,
        errorText: (Int32) -> String
    ) -> String {
        let narrowing = narrowing.map { " Packets of more than \($0.mtu) bytes do not pass \($0.address)." }
        return sentence(verdict, errorText) + (narrowing ?? "")
    }

    private func sentence(_ verdict: TraceVerdict, _ errorText: (Int32) -> String) -> String {
        switch verdict {
        case .reached(let hops, let roundTrip):
            "\(destination) is reached after \(count(hops)), in \(Self.roundTrip(roundTrip))."
        case .rejected(let error, let router, let hop):
            "\(destination) is not reached: \(router), hop \(hop), says \(complaint(error))."
        case .loop(let routers, let hop):
            "\(destination) is not reached: packets \(circle(routers)), from hop \(hop) on."
        case .tooFar(let last, let hop):
            "\(destination) is not reached within \(count(hop)); the last router that answers is \(last). \(moreHops)"
        case .silentBeyond(let last, let hop): silentBeyond(last, hop) + otherTransport
        case .silent: silent + otherTransport
        case .neighborSilent: neighborSilent
        case .timeUp(let last?, let hop):
            "The time is up, and \(destination) has not answered; the last router that did is \(last), hop \(hop)."
        case .timeUp(nil, _): "The time is up, and nothing has answered."
        case .noPath(let errno): noPath(errno, errorText(errno))
        case .unusable(.noRoute), .unusable(.notAllowed):
            "No packet is sent to \(destination): no route to it leads through \(interface?.escapedForTerminal ?? "it")."
        case .unusable(let reason): "No packet is sent to \(destination)\(onLink). \(reason.meaning)"
        case .thisMachine: "\(destination) is an address of this machine: packets to it do not leave it."
        }
    }

    private func count(_ hops: Int) -> String { hops == 1 ? "1 hop" : "\(hops) hops" }

    private func circle(_ routers: [IPAddress]) -> String {
        guard routers.count > 1, let last = routers.last else {
            return "come back to \(routers.first?.description ?? "the same router") again and again"
        }
        let others = routers.dropLast().map(\.description).joined(separator: ", ")
        return "go in a circle between \(others) and \(last)"
    }

    private func complaint(_ error: ICMPError) -> String {
        switch error {
        case .networkUnreachable: "that it has no route to it"
        case .hostUnreachable: "that the host is unreachable: it is down, or a route says so"
        case .portUnreachable: "that the port is unreachable, as a firewall does that rejects packets"
        case .prohibited: "that this is administratively prohibited, as a firewall does"
        case .packetTooBig(0): "that packets of \(settings.size) bytes are too big"
        case .packetTooBig(let mtu): "that packets may have only \(mtu) bytes"
        default: "'\(Self.words(error))'"
        }
    }

    private var moreHops: String {
        settings.maximumHops < TraceSettings.hopLimits.upperBound
            ? "Give a larger --hops." : "That is far for any path."
    }

    /// The hint that a host or a firewall may be silent to UDP alone.
    private var otherTransport: String {
        guard port == nil else { return "" }
        let name = host?.shellWord.escapedForTerminal ?? destination.description
        return " It may be UDP that is ignored: try 'netwatch trace \(name) --tcp 443'."
    }

    private func silentBeyond(_ last: IPAddress, _ hop: Int) -> String {
        hop == 1 && gateway != nil
            ? "The last router that answers is the gateway \(last); nothing answers beyond it, so look at its uplink."
            : "The last router that answers is \(last), hop \(hop); nothing answers beyond it."
    }

    private var silent: String {
        let sentence =
            gateway.map { "Nothing answers, not even the gateway \($0)\(onLink)." }
            ?? "\(destination) does not answer, and there is no router before it\(onLink)."
        return sentence + why
    }

    private var neighborSilent: String {
        let lookup = destination.family == .ipv4 ? "ARP" : "neighbour discovery"
        let sentence =
            gateway.map {
                "The gateway \($0) does not answer to \(lookup)\(onLink): no packet leaves this machine."
            }
            ?? "\(destination) does not answer to \(lookup)\(onLink): it is down, or not on that link."
        return sentence + why
    }

    private var why: String { reason.map { " \($0.meaning)" } ?? "" }

    private var onLink: String { interface.map { " on \($0.escapedForTerminal)" } ?? "" }

    private func noPath(_ errno: Int32, _ text: String) -> String {
        switch errno {
        case LookupErrno.networkUnreachable: "No packet is sent to \(destination): there is no route\(onLink)."
        case LookupErrno.hostUnreachable:
            "No packet is sent to \(destination): a route of this machine says that it is unreachable."
        case LookupErrno.accessDenied:
            "No packet is sent to \(destination): a route or a firewall of this machine prohibits it."
        case LookupErrno.invalid:
            "No packet is sent to \(destination): a route of type blackhole discards it, or the address is no host's."
        default: "No packet is sent to \(destination): the kernel refuses: \(text)."
        }
    }
}
