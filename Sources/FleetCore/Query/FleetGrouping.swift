/// By what machines are counted together: `--group-by group`, `label.NAME`, `state` or `why`.
package enum FleetGrouping: Hashable, Sendable {
    case group
    case label(String)
    case state
    case why

    /// Reads `group`, `label.NAME`, `state` or `why`; nil for anything else.
    package init?(parsing text: String) { return nil }
}
