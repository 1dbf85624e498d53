import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite("README: snippets and links")
struct ReadmeSnippetTests {
    private let readme: ReadmeText

    init() throws { readme = try ReadmeText() }

    @Test("The first program is the one under Examples, and has at most ten lines of code")
    func firstProgram() throws {
        let programs = readme.blocks.filter { $0.language == "swift" }
        #expect(programs.count == 4)
        let lines = try #require(programs.first).lines
        #expect(try lines.joined(separator: "\n") + "\n" == Repository.read("Examples/FirstProgram/main.swift"))
        #expect(lines.filter { !$0.isEmpty }.count <= 10)
    }

    @Test("The first program prints when the network is lost and returns")
    func firstProgramRuns() throws {
        let lab = try ReadmeLab()
        let program = try lab.start("/usr/bin/stdbuf", ["-oL", BuiltProducts.path(of: "FirstProgram")])
        try program.waitForOutput { $0.contains("wifi wan0 (virtual) [\"monitor.initial\"]\n") }
        try lab.namespace.rtnl.setDown("wan0")
        try program.waitForOutput { $0.contains("notReachable no path") }
        try program.send(SIGTERM)
        #expect(try program.finish().errors == "")
    }

    @Test("The first request is the one under Examples, and greets the requested user")
    func firstRequest() async throws {
        let lines = try #require(readme.blocks.filter { $0.language == "swift" }.dropFirst().first).lines
        #expect(try lines.joined(separator: "\n") + "\n" == Repository.read("Examples/FirstRequest/main.swift"))
        let server = try ScriptedServer(always: [.readRequest, Self.user])
        let base = "http://127.0.0.1:\(server.port)/v1"
        let greeting = try LabProcess.run(BuiltProducts.path(of: "FirstRequest"), [base])
        #expect(greeting.output == "hello Ann\n")
        let target = "/v1/users/7?fields%5B%5D=name&fields%5B%5D=tags"
        #expect(server.connections.first?.text.hasPrefix("GET \(target) HTTP/1.1\r\n") == true)
        try await server.stop()
        let refusal = try LabProcess.run(BuiltProducts.path(of: "FirstRequest"), [base]).output
        #expect(refusal.hasPrefix("no response: GET \(base)/users/7: "))
        #expect(refusal.hasSuffix("(connectionRefused, neverSent)\n"))
    }

    @Test("The program with an outbox is the one under Examples, and delivers a reading")
    func durableReadings() throws {
        let block = try #require(readme.blocks.filter { $0.language == "swift" }.last)
        let source = try Repository.read("Examples/DurableReadings/main.swift")
        #expect(source.contains(block.lines.joined(separator: "\n")))
        let server = try ScriptedServer(always: [.readRequest, .response("stored")])
        let folder = try LabFolder()
        let outcome = try LabProcess.run(
            BuiltProducts.path(of: "DurableReadings"),
            ["\(folder.path)/box", "http://127.0.0.1:\(server.port)/v1"]
        )
        #expect(outcome.output == "on disk: 1\n1 delivered 200\n", "\(outcome)")
        #expect(server.connections.first?.text.hasPrefix("POST /v1/readings HTTP/1.1\r\n") == true)
    }

    private static let user = ServerStep.response(#"{"name":"Ann"}"#, headers: ["Content-Type: application/json"])

    @Test("The program with the calls of other clients runs against a server")
    func comingFrom() throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, Self.user])])
        let outcome = try LabProcess.run(
            BuiltProducts.path(of: "ComingFrom"),
            ["http://127.0.0.1:\(server.port)/v1"]
        )
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.contains("invalidURL neverSent"))
    }

    @Test("Each snippet about waiting is part of a program under Examples, which runs")
    func waiting() throws {
        let snippet = try #require(
            readme.blocks.last { $0.language == "swift" && $0.lines.contains { $0.contains(".waitsForConnectivity") } }
        )
        .lines.joined(separator: "\n")
        #expect(try Repository.read("Examples/SteadyUpload/main.swift").contains(snippet))
        let source = try Repository.read("Examples/ComingFrom/main.swift")
        let section = try #require(readme.prose.split(separator: "\n## ").first { $0.hasPrefix("HTTP that waits") })
        let spans = section.matches(of: /`([^`\/]+)`/).map { String($0.1).replacing("\n", with: " ") }
        let expressions = spans.filter { $0.contains("configuration.") || $0.contains("(") || $0.contains("{") }
        #expect(expressions.count == 7)
        for expression in expressions { #expect(source.contains(expression), "\(expression)") }
    }

    @Test("Every expression in the text is part of a program under Examples, which runs")
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

    @Test("Every link within the repository has a target")
    func links() throws {
        let links = readme.links.filter { !$0.contains("://") }
        #expect(!links.isEmpty)
        let anchors = try MarkdownPage("README.md").anchors
        for link in links where link.hasPrefix("#") { #expect(anchors.contains(String(link.dropFirst())), "\(link)") }
        for link in links where !link.hasPrefix("#") {
            let path = Repository.root.appending(path: link).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
    }
}
