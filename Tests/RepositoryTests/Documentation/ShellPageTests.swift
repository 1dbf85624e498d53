import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// Runs the shell blocks of pages on a machine with one wired uplink.
@Suite(.timeLimit(.minutes(5)))
struct ShellPageTests {
    private let lab: ReadmeLab
    private let folder: LabFolder

    init() throws {
        lab = try ReadmeLab()
        folder = try LabFolder()
        for (name, target) in [("netwatch", BuiltProducts.path(of: "netwatch")), ("sync", "/bin/true")] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(name)", withDestinationPath: target)
        }
    }

    private func start(_ script: String) throws -> LabProcess {
        let environment = ["PATH": "\(folder.path):/usr/bin:/bin", "HOME": folder.path]
        return try lab.start("/bin/sh", ["-euc", script], environment: environment, directory: folder.path)
    }

    private func run(_ blocks: some Sequence<MarkdownPage.Block>) throws {
        for block in blocks {
            let outcome = try start(block.text).finish()
            #expect(outcome.code == 0, "\(block.text): \(outcome)")
        }
    }

    @Test func `every script of the page about waiting succeeds`() throws {
        let blocks = try MarkdownPage("docs/wait-in-scripts.md").blocks(of: "sh")
        #expect(blocks.count >= 7)
        try run(blocks)
    }

    @Test func `every command of the reference succeeds`() throws {
        let capture = Repository.root.appending(path: "Tests/Fixtures/story-nanoseconds.pcap").path
        try FileManager.default.copyItem(atPath: capture, toPath: "\(folder.path)/outage.pcap")
        let blocks = try MarkdownPage("docs/cli.md").blocks(of: "sh")
        #expect(blocks.count >= 5)
        try run(blocks)
    }

    @Test func `a capture is recorded and replayed as the page says`() throws {
        let blocks = try MarkdownPage("docs/record-a-problem.md").blocks(of: "sh")
        #expect(blocks.count == 3)
        let recorder = try start("exec " + blocks[0].text)
        // The head of the capture is written first, then the kernel's tables.
        let capture = URL(filePath: "\(folder.path)/outage.pcap")
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? Data(contentsOf: capture).count) ?? 0 < 1000, ContinuousClock.now < deadline { usleep(10_000) }
        try recorder.send(SIGINT)
        #expect(try recorder.finish().code == 0)
        try run(blocks.dropFirst())
    }
}
