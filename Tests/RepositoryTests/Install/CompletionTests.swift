import Foundation
import NetworkLab
import Testing

/// The completions that the shells themselves offer after the installation.
@Suite("Completions", .timeLimit(.minutes(5)))
struct CompletionTests {
    private let lab: InstallLab

    init() throws {
        lab = try InstallLab()
        let outcome = try lab.run("install", ["--tool", lab.tool, "--prefix", lab.root.path + "/there"])
        guard outcome.code == 0 else { throw LabError("install", errno: 0, detail: outcome.errors) }
    }

    /// The completions that a shell offers at the end of a line.
    private func offers(_ shell: String, _ line: String) throws -> Set<String> {
        let script = "Tests/RepositoryTests/Install/Support/offers.\(shell)"
        let plain = ["bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]]
        // Words as a shell has them: the last one is empty where something new is begun.
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let outcome = try LabProcess.run(
            "/usr/bin/env",
            [shell] + (plain[shell] ?? []) + [Repository.root.appending(path: script).path]
                + ["\(lab.root.path)/there/share"] + words,
            environment: ["PATH": "/usr/bin:/bin", "HOME": lab.root.path, "TERM": "dumb", "LC_ALL": "C.UTF-8"],
            directory: lab.root.path,
            within: .seconds(240)
        )
        #expect(outcome.code == 0 && outcome.errors == "", "\(shell), \(line): \(outcome)")
        return Set(outcome.output.split(separator: "\n").map(String.init))
    }

    @Test("Each shell offers commands, options, the states, interfaces and files", arguments: ["bash", "zsh", "fish"])
    func offered(shell: String) throws {
        let commands: Set = [
            "watch", "status", "wait", "run", "explain", "record", "replay", "history", "fetch", "serve", "outbox",
            "fleet", "trace",
        ]
        #expect(try offers(shell, "netwatch ").isSuperset(of: commands))
        #expect(try offers(shell, "netwatch wa") == ["watch", "wait"])
        #expect(try offers(shell, "netwatch wait --").isSuperset(of: ["--for", "--timeout", "--to", "--netns"]))
        #expect(try offers(shell, "netwatch wait --for ") == ["reachable", "wifi", "cellular", "notReachable"])
        #expect(try offers(shell, "netwatch wait --for w") == ["wifi"])
        #expect(try offers(shell, "netwatch fetch --interface l").contains("lo"))
        #expect(try offers(shell, "netwatch fleet --").isSuperset(of: ["--once", "--where", "--store", "--listen"]))
        #expect(try offers(shell, "netwatch outbox re") == ["release", "resume", "retry"])
        #expect(try offers(shell, "netwatch outbox add --trust").contains("--trust-http"))
        try Data().write(to: lab.root.appending(path: "outage.pcap"))
        #expect(try offers(shell, "netwatch replay out").contains("outage.pcap"))
    }

    @Test("The namespaces that 'ip netns' names are offered", arguments: ["bash", "zsh", "fish"])
    func namespaces(shell: String) throws {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")
        #expect(try offers(shell, "netwatch status --netns ") == Set(names ?? []))
    }
}
