import CommandLineLab
import Glibc
import NetworkLab
import Testing

@testable import netwatch

/// Runs the tool from a separate directory, next to a substitute for `netwatch-fetch`.
@Suite(.timeLimit(.minutes(5))) struct ExternalCommandTests {
    /// A directory with a hard link to the built tool, so that this is the tool's own directory.
    private final class Directory {
        let path: String

        init() throws {
            let parent = ToolBinary.path.split(separator: "/").dropLast().joined(separator: "/")
            var template = Array("/\(parent)/external-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard link(ToolBinary.path, tool) == 0 else { throw LabError("link \(tool)", errno: errno) }
        }

        deinit {
            for file in [tool, fetch, daemon, outbox] { unlink(file) }
            rmdir(path)
        }

        var tool: String { path + "/netwatch" }
        var fetch: String { path + "/netwatch-fetch" }
        var daemon: String { path + "/netwatchd" }
        var outbox: String { path + "/netwatch-outbox" }

        /// Runs the tool to its end.
        func run(_ arguments: [String]) throws -> LabProcess.Outcome { try LabProcess.run(tool, arguments) }
    }

    @Test(arguments: [
        (["fetch", "http://x/", "-f"], "fetch http://x/ -f\n"),
        (["--json", "--kind", "a=wifi", "fetch", "http://x/"], "fetch --json --kind a=wifi http://x/\n"),
        (["fetch", "--help"], "fetch --help\n"), (["help", "fetch"], "fetch --help\n"), (["fetch"], "fetch\n"),
        (["fetch", "a b", "--", "*"], "fetch a b -- *\n"),
    ])
    func `fetch is executed from the tool's own directory, with its arguments`(
        arguments: [String],
        output: String
    ) throws {
        let directory = try Directory()
        #expect(symlink("/bin/echo", directory.fetch) == 0)
        let outcome = try directory.run(arguments)
        #expect(outcome.output == output)
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
    }

    @Test func `arguments that are not UTF-8 arrive byte for byte`() throws {
        let directory = try Directory()
        #expect(symlink("/bin/echo", directory.fetch) == 0)
        let script = #"exec "$0" fetch "$(printf 'a\377b')" | od -An -tx1"#
        let outcome = try LabProcess.run("/bin/sh", ["-c", script, directory.tool])
        #expect(outcome.output == " 66 65 74 63 68 20 61 ff 62 0a\n")
    }

    @Test(arguments: [["fetch", "http://x/"], ["fetch", "--help"], ["help", "fetch"]])
    func `without netwatch-fetch one line says what to install`(arguments: [String]) throws {
        let directory = try Directory()
        let outcome = try directory.run(arguments)
        #expect(outcome.code == 127)
        let words = "'netwatch fetch' is not installed: there is no '\(directory.fetch)'; install the package "
        let build = "netwatch-fetch, or run './scripts/netwatch fetch' in a checkout, which builds it"
        #expect(outcome.errors == "netwatch: \(words)\(build)\n")
        #expect(outcome.output == "")
    }

    @Test func `a netwatch-fetch that cannot be executed is an error with the reason`() throws {
        let directory = try Directory()
        let descriptor = open(directory.fetch, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        #expect(close(descriptor) == 0)
        let outcome = try directory.run(["fetch", "http://x/"])
        #expect(outcome.code == 126)
        let words = "cannot execute '\(directory.fetch)': Permission denied; reinstall netwatch-fetch"
        #expect(outcome.errors == "netwatch: \(words)\n")
    }

    @Test func `serve is executed as netwatchd, from the same directory`() throws {
        let directory = try Directory()
        let missing = try directory.run(["serve"])
        #expect(missing.code == 127)
        let words = "'netwatch serve' is not installed: there is no '\(directory.daemon)'; install the package "
        let build = "netwatchd, or run './scripts/netwatch serve' in a checkout, which builds it"
        #expect(missing.errors == "netwatch: \(words)\(build)\n")
        #expect(symlink("/bin/echo", directory.daemon) == 0)
        #expect(try directory.run(["--settle", "1s", "serve", "--help"]).output == "serve --settle 1s --help\n")
    }

    @Test func `other commands and the help do not need netwatch-fetch`() throws {
        let directory = try Directory()
        let help = try directory.run(["--help"])
        #expect(help.code == 0 && help.output.contains("\n  fetch "), "\(help)")
        #expect(help.output.contains("\n  outbox "), "\(help)")
        let script = try directory.run(["--generate-completion-script", "bash"])
        #expect(script.code == 0 && script.output.contains("_netwatch_fetch() {"), "\(script)")
        #expect(ExternalCommand(["run", "--", "fetch"]) == nil && ExternalCommand(["--netns", "fetch"]) == nil)
    }

    @Test func `outbox is executed as netwatch-outbox, from the same directory`() throws {
        let directory = try Directory()
        let missing = try directory.run(["outbox", "list"])
        #expect(missing.code == 127)
        let words = "'netwatch outbox' is not installed: there is no '\(directory.outbox)'; install the package "
        let build = "netwatch-outbox, or run './scripts/netwatch outbox' in a checkout, which builds it"
        #expect(missing.errors == "netwatch: \(words)\(build)\n")
        #expect(symlink("/bin/echo", directory.outbox) == 0)
        #expect(try directory.run(["outbox", "list", "--json"]).output == "outbox list --json\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completion scripts offer the subcommands of outbox, with their options`(shell: String) throws {
        let script = try LabProcess.run(ToolBinary.path, ["--generate-completion-script", shell]).output
        if shell == "fish" {
            #expect(script.contains("            case 'add'\n                __netwatch_parse_subcommand 1"))
            #expect(script.contains(#""netwatch outbox add" trust-http"#))
        } else {
            #expect(script.matches(of: /_netwatch_outbox\(\) \{/).count == 1)
            #expect(script.matches(of: /_netwatch_outbox_add\(\) \{/).count == 1 && script.contains("--trust-http"))
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completion scripts offer the options of fetch`(shell: String) throws {
        let script = try LabProcess.run(ToolBinary.path, ["--generate-completion-script", shell]).output
        let long = shell == "fish" ? "'max-redirs'" : "--max-redirs"
        #expect(script.contains(long), "\(script)")
        #expect(script.contains(shell == "fish" ? "'netns='" : "--netns"))
        #expect(script.matches(of: /_netwatch_fetch\(\) \{/).count == (shell == "fish" ? 0 : 1))
    }
}
