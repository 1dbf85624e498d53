import ReachabilityCore

extension KernelEvent {
    var linkMessage: LinkMessage? { if case .link(let message) = self { message } else { nil } }
    var addressMessage: AddressMessage? { if case .address(let message) = self { message } else { nil } }
    var routeMessage: RouteMessage? { if case .route(let message) = self { message } else { nil } }
    var ruleMessage: RuleMessage? { if case .rule(let message) = self { message } else { nil } }
    var nexthopMessage: NexthopMessage? { if case .nexthop(let message) = self { message } else { nil } }
    var neighbourMessage: NeighbourMessage? { if case .neighbour(let message) = self { message } else { nil } }
    var netconfMessage: NetconfMessage? { if case .netconf(let message) = self { message } else { nil } }
}
