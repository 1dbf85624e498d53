/// The machines that are expected to report.
package struct FleetInventory: Hashable, Sendable {
    /// A machine, and its labels.
    package struct Entry: Hashable, Sendable {
        package var key: NodeKey
        package var labels: [String: String]
    }

    package private(set) var entries: [Entry] = []

    /// Reads one machine a line: `GROUP/NODE`, or `NODE` for one of the group `default`, then labels as `NAME=VALUE`.
    ///
    /// A value may be in double quotes. Empty lines and what follows a `#` at the start of a word are left out.
    ///
    /// - Throws: ``FleetInventoryError`` with the line.
    package init(parsing text: String) throws(FleetInventoryError) {}
}

/// Why a text is no inventory.
package struct FleetInventoryError: Error, Hashable, CustomStringConvertible {
    /// The line, counted from 1.
    package let line: Int
    package let problem: String

    /// `line 3: …`.
    package var description: String { "line \(line): \(problem)" }
}
