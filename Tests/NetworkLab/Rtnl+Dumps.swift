package import ReachabilityCore

// MARK: - Reading the kernel's tables

extension Rtnl {
    /// Reads one of the kernel's tables, and returns the replies in their order.
    ///
    /// A subject's table or interface is asked for strictly; the kernel filters.
    package func messages(of subject: DumpSubject) throws(LabError) -> [RtnlMessage] {
        try dump(.dump(of: subject))
    }

    /// Reads one of the kernel's tables, decoded.
    package func events(of subject: DumpSubject) throws(LabError) -> [KernelEvent] {
        var events: [KernelEvent] = []
        for message in try messages(of: subject) { events.append(try message.event()) }
        return events
    }

    /// The routes of a family, of one table or of all, that are not the kernel's own (`RTPROT_KERNEL`).
    package func routes(_ family: AddressFamily, table: RouteTableID? = nil) throws(LabError) -> [RouteMessage] {
        try events(of: .routes(family, table: table)).compactMap { event in
            guard case .route(let route) = event, route.origin != 2 else { return nil }
            return route
        }
    }

    /// The addresses of a family on a link.
    package func addresses(_ family: AddressFamily, on interface: String) throws(LabError) -> [AddressMessage] {
        let index = try index(of: interface)
        return try events(of: .addresses(family)).compactMap { event in
            guard case .address(let address) = event, address.index == index else { return nil }
            return address
        }
    }

    /// The rules of a family, in the kernel's order.
    package func rules(_ family: AddressFamily) throws(LabError) -> [RuleMessage] {
        try events(of: .rules(family)).compactMap { event in
            guard case .rule(let rule) = event else { return nil }
            return rule
        }
    }
}

extension RtnlRequest {
    /// The request for a dump of a subject.
    static func dump(of subject: DumpSubject) -> Self {
        let description = "dump \(subject)"
        switch subject {
        case .links:
            return .init(description, type: RTM.getLink) { $0.linkHeader(index: 0) }
        case .addresses(let family):
            return .init(description, type: RTM.getAddr) { $0.append(bytes: [family.rawValue] + zeros(7)) }
        case .routes(let family, let table):
            return .init(description, type: RTM.getRoute) { builder in
                builder.append(bytes: [family.rawValue] + zeros(11))
                if let table { builder.attribute(RTA.table, table.rawValue) }
            }
        case .rules(let family):
            return .init(description, type: RTM.getRule) { $0.append(bytes: [family.rawValue] + zeros(11)) }
        case .nexthops:
            return .init(description, type: RTM.getNexthop) { $0.append(bytes: zeros(8)) }
        case .neighbours(let family, let interface):
            return .init(description, type: RTM.getNeigh) { builder in
                builder.append(bytes: [family.rawValue] + zeros(11))
                if let interface { builder.attribute(8, index: interface) }
            }
        case .netconf(let family):
            return .init(description, type: RTM.getNetconf) { $0.append(bytes: [family.rawValue]) }
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { .init(repeating: 0, count: count) }
}
