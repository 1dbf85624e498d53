package import NetwatchCore

/// The live table of a fleet.
package struct FleetScreen: Sendable {
    /// The parameters of a screen.
    package struct Options: Hashable, Sendable {
        /// The broker, at the right of the first line.
        package var broker: String
        package var isASCII: Bool
        /// The offset of local time from UTC, in seconds east.
        package var utcOffset: Int

        package init(broker: String, isASCII: Bool = false, utcOffset: Int = 0) {
            self.broker = broker
            self.isASCII = isASCII
            self.utcOffset = utcOffset
        }
    }

    /// What the caller has to do after a key.
    package enum Action: Hashable, Sendable {
        case nothing
        case redraw
        case quit
    }

    package init(_ options: Options) { self.options = options }

    private var options: Options

    /// The state of the connection to the broker while it is not usable; nil otherwise.
    package var notice: String?

    /// Handles a key: the arrows, j and k, page and end keys scroll; q and ctrl-c quit; ctrl-l redraws.
    package mutating func press(_ key: Key, on board: FleetBoard, _ size: ScreenSize) -> Action { .nothing }

    /// Draws the board, which was brought up to date.
    package func frame(_ board: FleetBoard, of model: FleetModel, _ size: ScreenSize, at now: Timestamp) -> Frame {
        .init(lines: [])
    }
}
