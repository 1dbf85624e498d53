import ArgumentParser
import CommandLineSupport
import Reachability
import ReachabilityCore

/// The options of the live view, in addition to the common options.
struct LiveOptions: ParsableArguments {
    @Flag(help: "Print lines on a terminal too.")
    var plain = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Show the route to a host. Repeatable.", valueName: "host"),
        transform: WrittenHost.parse
    )
    var to: [WrittenHost] = []

    @Option(help: "Color the view; 'auto' unless NO_COLOR is set.")
    var color = ColorChoice.auto

    /// The configuration of the live view.
    func configuration(_ monitor: MonitorConfiguration, _ validation: [String]?) -> LiveConfiguration {
        .init(monitor: monitor, hosts: to, color: color, validation: validation)
    }
}

/// A host, and how the user wrote it.
struct WrittenHost: Hashable {
    /// The parsed host.
    var host: Host
    /// As it was written.
    var text: String

    /// Reads an address or a name.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        .init(host: try HostArgument.parse(text), text: text)
    }
}

/// When colors are used.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal that has them, unless `NO_COLOR` is set (https://no-color.org).
    case auto
    /// Also where `NO_COLOR` is set.
    case always
    /// Not at all.
    case never

    /// Whether to use them.
    ///
    /// - Parameter noColor: The environment's `NO_COLOR`; an empty one counts as none.
    /// - Returns: Whether colors are wanted; the terminal may have none.
    func isColored(noColor: String?) -> Bool {
        switch self {
        case .auto: noColor.map(\.isEmpty) ?? true
        case .always: true
        case .never: false
        }
    }
}

/// The configuration of the live view.
struct LiveConfiguration {
    /// The configuration of the monitor.
    var monitor = MonitorConfiguration()
    /// Hosts whose own paths are shown.
    var hosts: [WrittenHost] = []
    /// When colors are used.
    var color = ColorChoice.auto
    /// The arguments of `netwatch-validate`; nil if validation is off.
    var validation: [String]?
}
