import Foundation
import Glibc
import NetworkLab
import Testing

/// Runs the README's shell blocks unchanged, on a stage where builds take no time.
@Suite("README: shell")
struct ReadmeShellTests {
    private let stage: ScriptStage
    private let lab: ReadmeLab
    private let server: ReadmeServer

    init() throws {
        lab = try ReadmeLab()
        stage = try ScriptStage()
        // A build that finds the tool of the tests' own build.
        let directory = BuiltProducts.directory
        let link = "for product; do :; done; ln -sf \"\(directory)/$product\" \"$HOME/.build/release/$product\""
        try stage.stand(in: "swift", "mkdir -p \"$HOME/.build/release\"; \(link)")
        for command in ["ln", "date"] { try stage.provide(command) }
        try stage.stand(in: "true")
        try stage.stand(in: "unshare", "shift; exec \"$@\"")
        server = try ReadmeServer(at: stage.root.appending(path: "socket").path)
        try stage.write(server.certificates.root, to: "root.pem")
        try stage.write(server.certificates.own, to: "server.pem")
        let way = "--cacert \"$HOME/root.pem\" --unix-socket \"$HOME/socket\""
        let tool = "exec '\(BuiltProducts.path(of: "netwatch"))' \"$@\""
        try stage.stand(in: "netwatch", "[ \"$1\" != fetch ] || set -- \"$@\" \(way); \(tool)")
        try lab.namespace.rtnl.createVeth("wwan0", index: 11, peer: "tower0", peerIndex: 21)
    }

    @Test("Every line of shell succeeds")
    func lines() throws {
        let blocks = try ReadmeText().blocks.filter { $0.language == "sh" }
        let lines = blocks.flatMap(\.lines)
        #expect(lines.contains("./scripts/netwatch") && lines.contains("./scripts/test"))
        for line in lines {
            // The tool itself runs until it is terminated.
            let isLive = line == "./scripts/netwatch"
            let shell = try lab.start(
                "/bin/sh",
                ["-c", isLive ? "exec \(line)" : line],
                environment: stage.environment,
                directory: stage.root.path
            )
            if isLive {
                try shell.waitForOutput { $0.contains("wifi") && $0.hasSuffix("\n") }
                try shell.send(SIGINT)
            }
            let outcome = try shell.finish()
            #expect(outcome.code == 0, "\(line): \(outcome)")
        }
    }
}
