/// Which machines are shown: `--where 'group=site-3 and state!=wifi and availability<99.9'`.
///
/// A condition is a field, `=`, `!=`, `<`, `<=`, `>` or `>=`, and a value, which may be in double quotes; `and` joins them.
/// Fields: `group`, `node`, `link`, `state`, `why`, `path`, `availability` (in per cent), `outages`, `backlog`, `lost`,
/// `flapping` (yes or no), and `label.NAME`.
package struct FleetFilter: Hashable, Sendable {
    /// Every machine.
    package static let all = Self()

    /// Every machine.
    package init() {}

    /// Reads conditions.
    ///
    /// - Throws: ``FleetFilterError``, whose description has the text and points at the character.
    package init(parsing text: String) throws(FleetFilterError) { self.init() }

    /// Adds the conditions of another filter, all of which have to be met too.
    package mutating func add(_ other: Self) {}

    /// Returns whether a machine meets all conditions.
    package func matches(_ node: NodeStatus) -> Bool { true }
}

/// Why a text is no filter.
package struct FleetFilterError: Error, Hashable, CustomStringConvertible {
    /// The text.
    package let text: String
    /// The number of characters before the one that is wrong.
    package let offset: Int
    /// What is wrong and what to write instead.
    package let problem: String

    /// Three lines: the problem, the text, and a caret below the character.
    package var description: String { problem }
}
