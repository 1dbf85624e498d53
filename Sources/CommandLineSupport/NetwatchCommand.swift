package import ArgumentParser

/// A command of the tool: it says with which code to exit, or fails with one line for stderr.
package protocol NetwatchCommand: ParsableCommand {
    /// Does what the command is for.
    func execute() throws(ToolError) -> ExitStatus
}

/// The summaries of commands that are executables of their own, for the help of `netwatch` and for theirs.
package enum CommandSummary {
    package static let fetch = "Send an HTTP request and print the response body."
    package static let serve = "Serve events to other programs, over HTTP on a Unix socket."
    package static let forward = "Send the events of this machine to an MQTT broker, those of outages included."
    package static let fleet = "Show the machines that report to an MQTT broker, and why one is silent."
    package static let outbox = "Keep HTTP requests on disk until they are delivered."
    package static let validate = "Print whether the path leads to the internet, a JSON line per change."
}

/// A command line to copy from a command's help, with what it is good for.
package struct Example: Hashable, Sendable {
    /// The purpose; begins with a capital letter and has no full stop.
    package let purpose: String
    /// The command; one line of a shell, short enough for a terminal of 80 columns.
    package let line: String

    package init(_ purpose: String, _ line: String) {
        self.purpose = purpose
        self.line = line
    }
}

extension String {
    /// Returns the discussion of a command's help: the examples, then the text.
    ///
    /// The form is fixed, because the man pages are made of the help too (`scripts/man-pages`): each example is a comment
    /// of the shell and its line, both indented by two spaces, and an empty line ends them all.
    package static func guide(_ examples: [Example], _ discussion: String) -> String {
        let lines = examples.map { "  # \($0.purpose)\n  \($0.line)\n" }.joined()
        return "EXAMPLES:\n\(lines)\n\(discussion)"
    }
}
