import Foundation
import NetworkLab
import Testing

@Suite("Service units", .timeLimit(.minutes(5)))
struct ServiceUnitTests {
    private let lab: InstallLab

    init() throws {
        lab = try InstallLab()
        let outcome = try lab.run("install", ["--tool", lab.tool, "--prefix", lab.root.path + "/there"])
        guard outcome.code == 0 else { throw LabError("install", errno: 0, detail: outcome.errors) }
    }

    private func path(_ unit: String) -> String { "\(lab.root.path)/there/lib/systemd/system/\(unit).service" }

    @Test(
        "systemd finds nothing at fault with them, and little that they could harm",
        .enabled(if: InstallLab.hasCommand("systemd-analyze")),
        arguments: [("netwatch", 1.1), ("netwatch-wait-online", 1.3)]
    )
    func analyzed(unit: String, exposure: Double) throws {
        let verified = try LabProcess.run(
            "/usr/bin/systemd-analyze",
            ["verify", "--man=no", path(unit)],
            within: .seconds(240)
        )
        #expect(verified.code == 0 && verified.output + verified.errors == "", "\(verified)")
        let judged = try LabProcess.run(
            "/usr/bin/systemd-analyze",
            ["security", "--offline=true", "--no-pager", path(unit)],
            environment: ["LC_ALL": "C.UTF-8"],
            within: .seconds(240)
        )
        let figure = try #require(judged.output.firstMatch(of: /Overall exposure level for .*: ([0-9.]+)/), "\(judged)")
        #expect(try #require(Double(figure.1)) <= exposure)
    }

    @Test("The units see real user IDs, which rules for a range of users need")
    func users() throws {
        // PrivateUsers= would show every other user ID as that of nobody.
        #expect(try Repository.read("packaging/systemd/sandbox").contains("PrivateUsers") == false)
    }

    @Test("A boot continues after the longest wait, whatever the settings file says")
    func bounded() throws {
        let unit = try lab.read("there/lib/systemd/system/netwatch-wait-online.service")
        #expect(unit.contains("\nType=oneshot\n") && unit.contains("\nBefore=network-online.target\n"))
        #expect(unit.contains("\nTimeoutStartSec=90s\n") && unit.contains("\nWantedBy=network-online.target\n"))
        // Only wanted, so that its failure delays no unit.
        #expect(unit.contains("RequiredBy") == false)
        let settings = try Repository.read("packaging/default/netwatch-wait-online")
        for assignment in try #require(unit.firstMatch(of: /(?m)^Environment=(.*)$/)).1.split(separator: " ") {
            #expect(settings.contains("\n#\(assignment)\n"), "\(assignment)")
        }
    }

    @Test(
        "What the units run is taken, and works without any capability",
        arguments: ["netwatch", "netwatch-wait-online"]
    )
    func unprivileged(unit: String) throws {
        let text = try lab.read("there/lib/systemd/system/\(unit).service")
        let line = try #require(text.firstMatch(of: /(?m)^ExecStart=(.*)$/)).1
        let values = ["${WAIT_FOR}": "reachable", "${WAIT_TIMEOUT}": "30s", "$WAIT_OPTIONS": "--kind"]
        var words = line.split(separator: " ").map { values[String($0)] ?? String($0) }
        if words.last == "--kind" { words.append("wan0=wifi") }
        let readme = try ReadmeLab()
        let options = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        let process = try readme.start("/usr/bin/setpriv", options + words)
        if unit == "netwatch" {
            try process.waitForOutput { $0.contains("\"status\":\"wifi\"") }
            try process.send(SIGTERM)
        }
        let outcome = try process.finish()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
    }
}
