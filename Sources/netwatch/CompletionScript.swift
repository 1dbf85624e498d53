import ArgumentParser
import CommandLineSupport
import Glibc
import NetwatchCore

/// A request for a completion script, such as `--generate-completion-script bash`.
///
/// The script offers the options of ``ExternalCommand``s too, as far as those are installed: the argument parser's script
/// of each has the same form as the tool's own, and replaces what the tool's own has for that command.
struct CompletionScript {
    private let shell: CompletionShell
    private let request: String

    /// Creates a request of arguments; nil if they are another request, or name no known shell.
    init?(_ arguments: [String]) {
        let option = "--generate-completion-script"
        let words = arguments.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        guard words.count == 2, words[0] == option, let shell = CompletionShell(rawValue: words[1]) else { return nil }
        self.shell = shell
        request = words.joined(separator: " ")
    }

    /// The script.
    var text: String {
        let own = Netwatch.completionScript(for: shell)
        return ExternalCommand.names.sorted().reduce(own) { script, name in
            guard let command = ExternalCommand([name]), let other = output(of: command) else { return script }
            return Self.replacing(name, in: script, from: other, shell)
        }
    }

    /// Returns the output of a command's executable for the same request; nil if it is not installed (popen(3)).
    private func output(of command: ExternalCommand) -> String? {
        guard access(command.path, X_OK) == 0, let stream = popen("\(command.path.shellWord) \(request)", "re") else {
            return nil
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
        return pclose(stream) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// A script with what another one has for a command.
    static func replacing(_ name: String, in script: String, from other: String, _ shell: CompletionShell) -> String {
        let (own, new) = (lines(of: script), lines(of: other))
        guard shell == .fish else {
            guard let old = function(name, in: own), let range = function(name, in: new) else { return script }
            return (own[..<old.lowerBound] + new[range] + own[old.upperBound...]).joined(separator: "\n")
        }
        let isOfCommand = { (line: Substring) in line.contains("\"netwatch \(name)") }
        let mark = "        case '\(name)'"
        guard let old = own.firstIndex(of: Substring(mark)), let place = new.firstIndex(of: Substring(mark)) else {
            return script
        }
        let rest = new[(place + 1)...]
        let next = rest.firstIndex { $0.hasPrefix("        case ") || $0 == "        end" } ?? place + 2
        let kept = (own[...old] + rest[..<next] + own[(old + 2)...]).filter { !isOfCommand($0) }
        let end = kept.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? kept.endIndex
        return (kept[..<end] + new.filter(isOfCommand) + kept[end...]).joined(separator: "\n")
    }

    private static func lines(of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines of the shell function for a command, in bash and zsh, with those of its own subcommands behind it.
    private static func function(_ name: String, in lines: [Substring]) -> Range<Int>? {
        guard let start = lines.firstIndex(of: "_netwatch_\(name)() {") else { return nil }
        let last = lines.lastIndex { $0.hasPrefix("_netwatch_\(name)_") && $0.hasSuffix("() {") } ?? start
        guard let end = lines[last...].firstIndex(of: "}") else { return nil }
        return start..<(end + 1)
    }
}
