import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// The live view of a machine on which the event service runs.
@Suite(.timeLimit(.minutes(5))) struct ServicePastTests {
    private let folder = Result { try LabFolder() }

    private func serve(_ uplinks: Uplinks, _ arguments: String...) throws -> ToolProcess {
        let path = try folder.get().path
        let service = try ToolProcess(
            ["serve", "--socket", path + "/events.sock"] + Uplinks.kinds + arguments,
            in: uplinks.lab
        )
        let deadline = ContinuousClock.now + .seconds(60)
        while access(path + "/events.sock", F_OK) != 0 {
            guard ContinuousClock.now < deadline else { throw LabError("wait for the service", errno: ETIMEDOUT) }
            Polling.pause()
        }
        return service
    }

    /// Waits until the service has a state.
    private func waitForService(_ status: String) throws {
        let arguments = ["-s", "--unix-socket", try folder.get().path + "/events.sock", "http://localhost/v1/state"]
        let deadline = ContinuousClock.now + .seconds(60)
        while !(try LabProcess.run("/usr/bin/curl", arguments).output.contains(#""status":"\#(status)""#)) {
            guard ContinuousClock.now < deadline else { throw LabError("wait for \(status)", errno: ETIMEDOUT) }
            Polling.pauseForProcess()
        }
    }

    /// A terminal on which the usual path of the service's socket leads to the one of the test.
    private func view(_ uplinks: Uplinks) throws -> TerminalScreen {
        let prelude = "mount -t tmpfs none /run && ln -s \(try folder.get().path) /run/netwatch && "
        return try TerminalScreen(
            Uplinks.kinds,
            columns: 100,
            rows: 30,
            in: uplinks.lab,
            shell: prelude,
            ownsMounts: true
        )
    }

    @Test func `what the service has stored is shown`() throws {
        let uplinks = try Uplinks.quiet()
        try uplinks.connectCellular()
        let service = try serve(uplinks, "--journal", try folder.get().path + "/journal")
        defer { service.send(SIGTERM) }
        try waitForService("cellular")
        try uplinks.connectWiFi()
        try waitForService("wifi")
        let screen = try view(uplinks)
        try screen.wait(for: "the past") { rows in
            let log = rows.drop { !$0.hasPrefix("LOG") }
            return log.contains { $0.contains("● wifi") } && log.contains { $0.contains("▲ cellular") }
        }
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }

    @Test func `without a journal, or with one that is empty, the view starts as usual`() throws {
        let uplinks = try Uplinks.quiet()
        try uplinks.connectWiFi()
        let service = try serve(uplinks)
        defer { service.send(SIGTERM) }
        let screen = try view(uplinks)
        let rows = try screen.wait(for: "LOG  1 event")
        #expect(rows.contains { $0.hasPrefix("LAST HOUR (") })
        try screen.press("q")
        try screen.wait(for: "ended with 0")
    }
}
