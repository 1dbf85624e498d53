import Foundation
import Glibc
import NetworkLab
import Testing

@Suite("README: snippets and links")
struct ReadmeSnippetTests {
    private let readme: ReadmeText

    init() throws { readme = try ReadmeText() }

    @Test("The first program is the one under Examples, and has at most ten lines of code")
    func firstProgram() throws {
        let programs = readme.blocks.filter { $0.language == "swift" }
        #expect(programs.count == 1)
        let lines = try #require(programs.first).lines
        #expect(try lines.joined(separator: "\n") + "\n" == Repository.read("Examples/FirstProgram/main.swift"))
        #expect(lines.filter { !$0.isEmpty }.count <= 10)
    }

    @Test("The first program tells of the network as it comes and goes")
    func firstProgramRuns() throws {
        let lab = try ReadmeLab()
        let program = try lab.start("/usr/bin/stdbuf", ["-oL", BuiltProducts.path(of: "FirstProgram")])
        try program.waitForOutput { $0.contains("wifi wan0 (virtual) [\"monitor.initial\"]\n") }
        try lab.namespace.rtnl.setDown("wan0")
        try program.waitForOutput { $0.contains("notReachable no path") }
        try program.send(SIGTERM)
        #expect(try program.finish().errors == "")
    }

    @Test("Every expression in the text stands in a program under Examples, which runs")
    func expressions() throws {
        let source = try Repository.read("Examples/OtherWays/main.swift")
        let expressions = readme.spans.filter { $0.contains("monitor.") && !$0.hasPrefix("monitor.status") }
        #expect(expressions.count == 4)
        for expression in expressions {
            for part in expression.split(separator: " … ") where part != "}" {
                #expect(source.contains(part), "\(expression)")
            }
        }
        let lab = try ReadmeLab()
        let outcome = try lab.start(BuiltProducts.path(of: "OtherWays")).finish()
        #expect(outcome.code == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains("waited for: wifi"))
        #expect(lines.contains("192.0.2.7 through wan0"))
        #expect(lines.contains("networks: []"))
    }

    @Test("Every link within the repository leads somewhere")
    func links() {
        let links = readme.links.filter { !$0.contains("://") }
        #expect(!links.isEmpty)
        for link in links {
            let path = Repository.root.appending(path: link).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
    }
}
