import Glibc
import NetworkLab
import ReachabilityCore

extension NetworkSnapshot {
    /// Reads everything that the evaluation needs from a namespace, with the project's own decoder and model.
    static func read(from rtnl: Rtnl, at now: Instant) throws -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        // Links first: their dump makes the kernel complete changes of carrier that it has deferred.
        var subjects: [DumpSubject] = [.links, .nexthops]
        for family in AddressFamily.allCases {
            subjects += [
                .netconf(family), .addresses(family), .rules(family), .neighbours(family, interface: nil),
                .routes(family, table: nil),
            ]
        }
        for subject in subjects {
            for message in try rtnl.messages(of: subject) { try snapshot.apply(message, at: now) }
        }
        return snapshot
    }

    /// Applies a message.
    mutating func apply(_ message: RtnlMessage, at now: Instant) throws {
        let decoder = NetlinkDecoder(defaultLikeRoutesOnly: true)
        try decoder.decode(message.bytes.span.bytes) { header, event in
            if event.concernsTheModel { apply(event, header, at: now) }
        }
    }
}

extension KernelEvent {
    /// Whether the monitor would apply the event: of routes, only those that its socket's filter lets through.
    fileprivate var concernsTheModel: Bool {
        switch self {
        case .route(let route), .routeRemoved(let route): route.isDefaultLike && route.table != .local
        default: true
        }
    }
}

extension Instant {
    /// Now, by `CLOCK_MONOTONIC`.
    static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .init(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
