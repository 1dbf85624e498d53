import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch forward`.
@main
struct NetwatchForward: CommandExecutable { typealias Command = ForwardCommand }
