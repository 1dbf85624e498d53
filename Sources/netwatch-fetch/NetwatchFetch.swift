import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch fetch`.
@main
struct NetwatchFetch: CommandExecutable { typealias Command = FetchCommand }
