import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// The kernel's path to the destination of a trace, and what follows from it for the probes.
struct TraceDestination {
    /// The words about it.
    var text: TraceText
    /// The destination and the packets.
    var target: TraceTarget
    /// The result that is known without any packet.
    var verdict: TraceVerdict?

    /// Takes the kernel's route of unbound sockets to an address.
    ///
    /// - Parameters:
    ///   - path: The route.
    ///   - settings: How far to go, and with which packets.
    init(_ path: DestinationPath, _ settings: TraceSettings) {
        text = TraceText(to: path.destination, settings)
        target = TraceTarget(path.destination)
        verdict = Self.verdict(path)
        take(path)
    }

    /// Binds the probes to an interface.
    ///
    /// - Parameters:
    ///   - interface: The interface.
    ///   - index: Its index.
    ///   - path: The route of sockets that are bound to it; nil if the destination is link-local.
    mutating func bind(to interface: String, index: InterfaceIndex, _ path: DestinationPath?) {
        guard verdict != .thisMachine else { return }
        target.interface = index
        verdict = nil
        if let path {
            take(path)
            if !path.isReachable { verdict = .unusable(path.reasons.first ?? .noRoute) }
            text.reason = nil
        } else {
            target.scope = index
            text.gateway = nil
            text.reason = nil
        }
        text.interface = interface
    }

    private mutating func take(_ path: DestinationPath) {
        text.interface = path.interface?.name
        text.gateway = path.gateway
        text.reason = path.isReachable ? nil : path.reasons.first
    }

    /// The result that follows from a route alone.
    private static func verdict(_ path: DestinationPath) -> TraceVerdict? {
        switch path.outcome {
        case .refused(let errno, _): .noPath(errno: errno)
        case .selected(let selection) where selection.type == .local || selection.type == .anycast: .thisMachine
        case .selected: nil
        }
    }

    /// Whether the route is one of a broadcast address.
    static func isBroadcast(_ path: DestinationPath) -> Bool {
        if case .selected(let selection) = path.outcome { selection.type == .broadcast } else { false }
    }
}
