import CommandLineLab
import NetworkLab
import Testing

@Suite struct UsageErrorTests {
    @Test(arguments: [
        (["--no-such"], "Unknown option '--no-such'"),
        (["stauts"], "there is no command 'stauts'; the commands are watch,"),
        (["watch", "extra"], "Unexpected argument 'extra'"), (["--settle", "soon"], "such as 250ms"),
        (["--settle", "5"], "the unit is missing"), (["--settle", "-5s"], "can't be negative"),
        (["--settle", "99999999999h"], "too long"), (["--settle"], "Missing value for '--settle"),
        (["--kind", "wwan0=lte"], "'lte' is not a kind; the kinds are wifi,"),
        (["--kind", "wwan0"], "write PATTERN=KIND"),
        (["--netns", ""], "no namespace has that name"), (["--netns", "no-such-namespace"], "no-such-namespace"),
        (["--netns", "/dev/null", "status"], "'/dev/null' is not a network namespace"),
        (["status", "--netns", "/no/such/file"], "there is no network namespace"),
        (["wait", "--for", "ethernet"], "'reachable', 'wifi', 'cellular' or 'notReachable'"),
        (["wait", "--timeout", "1 s"], "' s' is not a unit"), (["wait", "--to", "http://x/"], "leave out scheme"),
        (["run"], "write it after '--'"), (["run", "ls"], "write it after '--'"),
        (["run", "--", ""], "The command is empty"),
        (["run", "--retries", "-1", "--", "true"], "write a whole number"),
        (["run", "--retries", "x", "--", "true"], "write a whole number"),
        (["run", "--wifi-only", "--no-expensive", "--", "true"], "can't be had together"),
        (["run", "--for", "cellular", "--no-cellular", "--", "true"], "leave one out"),
        (["run", "--for", "notReachable", "--wifi-only", "--", "true"], "leave out --wifi-only"),
        (["--generate-completion-script", "cmd.exe"], "zsh bash fish"),
    ])
    func `a usage error is one line with a remedy, and code 64`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(arguments, in: LabNamespace())
        #expect(try tool.exitCode() == 64)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: ") && errors.contains(words), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
        #expect(try tool.output.rest() == "")
    }

    @Test(arguments: [
        (["--version"], "netwatch "), (["--help"], "SUBCOMMANDS"), (["help", "run"], "netwatch run"),
        (["--generate-completion-script", "bash"], "complete"),
        (["--generate-completion-script", "zsh"], "#compdef netwatch"),
        (["--generate-completion-script", "fish"], "complete -c 'netwatch'"), (["status", "--help"], "--netns"),
    ])
    func `requested help is on stdout`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(arguments, in: LabNamespace())
        #expect(try tool.output.rest().contains(words))
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `help that cannot be written is an error`() throws {
        let tool = try ToolProcess(["--help"], in: LabNamespace(), stdout: .file("/dev/full"))
        #expect(try tool.exitCode() == 74)
        #expect(try tool.errors.rest().contains("No space left on device"))
    }
}
