import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import CommandLineSupport
@testable import netwatch

@Suite(.timeLimit(.minutes(5))) struct ServiceReportTests {
    /// A unique name.
    private static func name(_ start: String) -> String {
        "\(start)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    }

    @Test(arguments: ["/tmp/netwatch-notify-", "@netwatch-notify-"])
    func `readiness is reported after the first line, and then each status`(start: String) throws {
        let uplinks = try Uplinks()
        let socket = try uplinks.lab.run { try ServiceSocket(Self.name(start)) }
        let pipe = try Pipe()
        let tool = try ToolProcess(
            ["watch", "--json"] + Uplinks.kinds,
            in: uplinks.lab,
            stdout: .descriptor(pipe.writer),
            environment: ["NOTIFY_SOCKET": socket.name]
        )
        close(pipe.writer)
        #expect(try socket.next() == ["READY=1", "STATUS=notReachable"])
        var written = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&written, 1, 0) == 1)
        let story = Story(LineReader(pipe.reader))
        try story.expect(.none.first)
        try uplinks.connectWiFi()
        try story.expect(.path("wifi", "wlan0"))
        #expect(try socket.next() == ["STATUS=wifi through wlan0"])
        tool.send(SIGTERM)
        #expect(try socket.next() == ["STOPPING=1"])
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a watchdog receives keep-alives at intervals`() throws {
        let uplinks = try Uplinks()
        let socket = try uplinks.lab.run { try ServiceSocket(Self.name("@netwatch-watchdog-")) }
        let tool = try ToolProcess(
            ["watch"],
            in: uplinks.lab,
            environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "20000"]
        )
        #expect(try socket.first().first == "READY=1")
        for _ in 0..<3 { #expect(try socket.next() == ["WATCHDOG=1"]) }
        tool.send(SIGINT)
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: [
        ("/nobody/is/there", "No such file or directory"), ("@nobody-is-there", "Connection refused"),
        ("relative", "Address family not supported"), ("/", "Address family not supported"),
        ("/" + String(repeating: "x", count: 200), "File name too long"),
    ])
    func `without a listener one line is printed and the watch continues`(name: String, words: String) throws {
        let uplinks = try Uplinks()
        let tool = try ToolProcess(
            ["watch", "--json"] + Uplinks.kinds,
            in: uplinks.lab,
            environment: ["NOTIFY_SOCKET": name]
        )
        let story = Story(tool.output)
        try story.expect(.none.first)
        try uplinks.connectWiFi()
        try story.expect(.path("wifi", "wlan0"))
        tool.send(SIGINT)
        #expect(try tool.exitCode() == 0)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: the service manager") && errors.contains(words), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
    }

    @Test func `a netlink failure is a first state, an unread model is not`() throws {
        let socket = try ServiceSocket(Self.name("/tmp/netwatch-notify-"))
        let environment = ["NOTIFY_SOCKET": socket.name]
        let report = ServiceReport(.init(process: getpid()) { environment[$0] })
        var change = ReachabilityChange.unread
        report.tell(change)
        change.event = .error
        report.tell(change)
        report.tell(change)
        #expect(try socket.next() == ["STATUS=unknown"])
        #expect(try socket.next() == ["READY=1", "STATUS=unknown"])
        #expect(try socket.next() == ["STATUS=unknown"])
    }

    @Test(arguments: [
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "2000000"], Duration.seconds(2)),
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"], .seconds(2)),
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "8"], nil),
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "x"], nil),
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "0"], nil), (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "-1"], nil),
        (["NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "9223372036854775807"], .seconds(86_400)),
        (["NOTIFY_SOCKET": "/s"], nil),
    ])
    func `the environment sets the keep-alive interval`(environment: [String: String], interval: Duration?) throws {
        let invitation = try #require(ServiceManager.Invitation(process: 7) { environment[$0] })
        #expect(invitation.watchdogInterval == interval)
    }

    @Test(arguments: [[:], ["NOTIFY_SOCKET": ""], ["WATCHDOG_USEC": "2000000"]])
    func `without a socket nothing is reported`(environment: [String: String]) {
        #expect(ServiceManager.Invitation(process: 7) { environment[$0] } == nil)
    }
}
