import CommandLineLab
import Glibc
import NetworkLab
import Testing

@Suite struct RunTests {
    private func connected() throws -> Uplinks {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        return uplinks
    }

    @Test(
        arguments: [
            ("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137), ("kill -TERM $$", 143),
        ] as [(String, Int32)]
    )
    func `the exit status is the command's`(script: String, code: Int32) throws {
        let tool = try connected().tool("run", "--", "sh", "-c", script)
        #expect(try tool.exitCode() == code)
        #expect(try tool.errors.rest() == "")
    }

    @Test(
        arguments: [
            ("no-such-command-here", 127, "cannot find the command 'no-such-command-here'"),
            ("/no/such/file", 127, "cannot find the command '/no/such/file'"),
            ("/etc", 126, "cannot execute '/etc': Permission denied"),
            ("/etc/passwd", 126, "cannot execute '/etc/passwd': Permission denied"),
        ] as [(String, Int32, String)]
    )
    func `a command that cannot be run is an error`(command: String, code: Int32, words: String) throws {
        let tool = try connected().tool("run", "--", command)
        #expect(try tool.exitCode() == code)
        #expect(try tool.errors.rest().hasPrefix("netwatch: " + words))
    }

    @Test func `stdin and stdout are the command's`() throws {
        let tool = try connected().tool("run", "--", "cat")
        tool.type("first\nsecond\n")
        #expect(try tool.output.line() == "first")
        tool.closeInput()
        #expect(try tool.output.rest() == "second\n")
        #expect(try tool.exitCode() == 0)
    }

    @Test func `options after the terminator are the command's`() throws {
        let tool = try connected().tool("run", "--", "echo", "--json", "--", "--help")
        #expect(try tool.output.rest() == "--json -- --help\n")
    }

    @Test func `arguments are passed on byte for byte`() throws {
        let script = #""$0" run -- printf %s "$(printf '\377x')" | od -An -tx1"#
        let tool = try connected().tool("run", "--", "sh", "-c", script, ToolBinary.path)
        #expect(try tool.output.rest() == " ff 78\n")
    }

    @Test func `a script without an interpreter line is run by the shell`() throws {
        let script = #"f=$(mktemp); echo 'echo "$1"' > "$f"; chmod +x "$f"; "$0" run -- "$f" word; rm "$f""#
        let tool = try connected().tool("run", "--", "sh", "-c", script, ToolBinary.path)
        #expect(try tool.output.rest() == "word\n")
    }

    @Test func `the command starts once the network is there`() throws {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("run", "--", "echo", "now")
        try uplinks.connectWiFi()
        #expect(try tool.output.rest() == "now\n")
        #expect(try tool.exitCode() == 0)
    }

    @Test func `the wait ends at the timeout`() throws {
        let tool = try Uplinks().tool("run", "--timeout", "20ms", "--", "echo", "now")
        #expect(try tool.exitCode() == 75)
        #expect(try tool.output.rest() == "")
        #expect(try tool.errors.rest().hasPrefix("netwatch: the time is up"))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `a signal ends the wait`(signal: Int32) throws {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("run", "--", "echo", "now")
        try tool.waitUntilBlocks(signal)
        tool.send(signal)
        #expect(try tool.exitCode() == 128 + signal)
        #expect(try tool.output.rest() == "")
    }

    @Test(arguments: [
        ("INT", SIGINT), ("TERM", SIGTERM), ("HUP", SIGHUP), ("QUIT", SIGQUIT), ("USR1", SIGUSR1), ("USR2", SIGUSR2),
        ("WINCH", SIGWINCH), ("CONT", SIGCONT),
    ])
    func `signals are passed on`(name: String, signal: Int32) throws {
        // A trap runs immediately while the shell waits, but not while it reads. A signal just before the shell waits is handled
        // when it waits no more.
        let script = "trap 'echo \(name); exit 9' \(name); echo ready; while :; do sleep 0.1 & wait $!; done"
        let tool = try connected().tool("run", "--", "bash", "-c", script)
        #expect(try tool.output.line() == "ready")
        tool.send(signal)
        #expect(try tool.output.line() == name)
        #expect(try tool.exitCode() == 9)
    }

    @Test func `signals without a handler end the command`() throws {
        let tool = try connected().tool("run", "--retries", "5", "--", "sh", "-c", "echo ready; exec cat")
        #expect(try tool.output.line() == "ready")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 143)
    }

    @Test func `the command has no signal blocked or ignored`() throws {
        let tool = try connected().tool("run", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
        #expect(try tool.output.line() == "SigBlk:\t0000000000000000")
        // Apart from the C library's own signals 32 and 33, which posix_spawn(3) leaves ignored.
        #expect(try ["0000000000000000", "0000000180000000"].contains(tool.output.line()?.dropFirst(8)))
    }

    @Test func `the command inherits no descriptor`() throws {
        // Besides those that the tool itself inherits from the test's process.
        let script = #"ls /proc/self/fd | wc -l; "$0" run -- ls /proc/self/fd | wc -l"#
        let tool = try connected().tool("run", "--", "sh", "-c", script, ToolBinary.path)
        let inherited = try #require(try tool.output.line())
        #expect(try tool.output.line() == inherited)
    }

    @Test func `a failed command runs again if the network was away meanwhile`() throws {
        let uplinks = try connected()
        let script = "echo run; read word; test \"$word\" = good"
        let tool = try uplinks.tool("run", "--retries", "3", "--", "sh", "-c", script)
        #expect(try tool.output.line() == "run")
        try uplinks.lab.rtnl.setDown("wlan0")
        tool.type("bad\n")
        let note =
            "netwatch: the command ended with 1 while the network was away; it runs again when the network is back"
        #expect(try tool.errors.line() == note)
        try uplinks.lab.rtnl.setUp("wlan0")
        try uplinks.lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        #expect(try tool.output.line() == "run")
        tool.type("good\n")
        #expect(try tool.exitCode() == 0)
        #expect(try tool.output.line() == nil)
    }

    @Test func `a failed command does not run again if the network was never away`() throws {
        let tool = try connected().tool("run", "--retries", "3", "--", "sh", "-c", "echo run; exit 3")
        #expect(try tool.output.rest() == "run\n")
        #expect(try tool.exitCode() == 3)
    }

    @Test func `a failed command does not run again if the network does not return in time`() throws {
        let uplinks = try connected()
        let script = "echo run; read word; exit 3"
        // The first wait has the same limit.
        let tool = try TimeLimit.lengthened {
            try uplinks.tool("run", "--retries", "3", "--timeout", $0, "--", "sh", "-c", script)
        } until: {
            try $0.output.line() == "run"
        }
        try uplinks.lab.rtnl.setDown("wlan0")
        tool.type("on\n")
        #expect(try tool.exitCode() == 75)
        #expect(try tool.output.line() == nil)
    }

    @Test func `the number of runs is limited`() throws {
        let uplinks = try connected()
        let tool = try uplinks.tool("run", "--retries", "1", "--", "sh", "-c", "echo run; read word; exit 3")
        #expect(try tool.output.line() == "run")
        try uplinks.lab.rtnl.setDown("wlan0")
        tool.type("on\n")
        #expect(try tool.errors.line()?.hasPrefix("netwatch: the command ended with 3") == true)
        try uplinks.lab.rtnl.setUp("wlan0")
        try uplinks.lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        #expect(try tool.output.line() == "run")
        try uplinks.lab.rtnl.setDown("wlan0")
        tool.type("on\n")
        #expect(try tool.exitCode() == 3)
        #expect(try tool.output.line() == nil)
    }

    @Test func `the wait continues while the path does not meet the requirement`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectCellular()
        let tool = try uplinks.tool("run", "--kind", "wwan0=cellular", "--no-cellular", "--", "echo", "now")
        try tool.waitUntilBlocks(SIGINT)
        try uplinks.connectWiFi()
        #expect(try tool.output.rest() == "now\n")
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: [
        (["--no-cellular", "--kind", "wwan0=cellular"], "waited for reachable, --no-cellular"),
        (["--wifi-only", "--kind", "wwan0=wired"], "waited for reachable, --wifi-only"),
        (["--no-expensive", "--expensive", "wwan0"], "waited for reachable, --no-expensive"),
        (["--no-expensive", "--no-cellular", "--kind", "wwan0=cellular"], "waited for reachable, --no-expensive"),
        (["--no-cellular", "--for", "wifi", "--kind", "wwan0=cellular"], "waited for wifi, --no-cellular"),
    ])
    func `the timeout message names the path that was not allowed`(options: [String], words: String) throws {
        let uplinks = try Uplinks()
        try uplinks.connectCellular()
        let errors = try uplinks.timeoutMessage(of: "run", options + ["--", "echo", "now"], naming: "wwan0")
        #expect(errors.contains(words) && errors.contains("wwan0"), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
    }

    @Test func `a signal ends the delay between two runs`() throws {
        let uplinks = try connected()
        let script = "echo run; read word; exit 3"
        let tool = try uplinks.tool("run", "--retries", "1000", "--", "sh", "-c", script)
        for _ in 0..<3 {
            #expect(try tool.output.line() == "run")
            try uplinks.lab.rtnl.setDown("wlan0")
            tool.type("on\n")
            #expect(try tool.errors.line()?.contains("it runs again") == true)
            try uplinks.lab.rtnl.setUp("wlan0")
            try uplinks.lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        }
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 143)
    }
}
