import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch fleet`.
@main
struct NetwatchFleet: CommandExecutable { typealias Command = FleetCommand }
