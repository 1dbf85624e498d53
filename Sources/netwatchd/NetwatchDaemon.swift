import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch serve`.
@main
struct NetwatchDaemon: CommandExecutable { typealias Command = ServeCommand }
