import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch validate`, and behind the option `--validate` of other commands.
@main
struct NetwatchValidate: CommandExecutable { typealias Command = ValidateCommand }
