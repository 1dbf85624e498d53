import ReachabilityCore

/// By what machines are counted together: `--group-by group`, `label.NAME`, `state` or `why`.
package enum FleetGrouping: Hashable, Sendable {
    case group
    case label(String)
    case state
    case why

    /// Reads `group`, `label.NAME`, `state` or `why`; nil for anything else.
    package init?(parsing text: String) {
        switch text {
        case "group": self = .group
        case "state": self = .state
        case "why": self = .why
        case _ where text.hasPrefix("label.") && text.utf8.count > 6: self = .label(String(text.dropFirst(6)))
        default: return nil
        }
    }

    /// The group of a machine; empty if it has no such label.
    func name(of node: NodeStatus) -> String {
        switch self {
        case .group: node.key.group
        case .label(let name): node.labels[name] ?? ""
        case .state: node.state.name
        case .why: node.why
        }
    }

    /// By what machines are counted that became silent together: the state and the cause follow from the silence.
    var place: Self {
        switch self {
        case .group, .label: self
        case .state, .why: .group
        }
    }
}
