import ArgumentParser
import CommandLineSupport
import Reachability

/// What the live view takes beside what every command takes that watches.
struct LiveOptions: ParsableArguments {
    @Flag(help: "Print lines on a terminal, too.")
    var plain = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Show the way to that host, too, in the live view; may be repeated.", valueName: "host"),
        transform: WrittenHost.parse
    )
    var to: [WrittenHost] = []

    @Option(help: "Colours in the live view: 'auto' is everywhere but where NO_COLOR is set.")
    var color = ColorChoice.auto

    /// What the live view is asked for.
    func configuration(_ monitor: MonitorConfiguration) -> LiveConfiguration {
        .init(monitor: monitor, hosts: to, color: color)
    }
}

/// A host, and how the user wrote it.
struct WrittenHost: Hashable {
    /// What it is.
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
