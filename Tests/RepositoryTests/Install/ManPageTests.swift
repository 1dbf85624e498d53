import Foundation
import HTTPLab
import NetworkLab
import Testing

@Suite("Man pages", .timeLimit(.minutes(5)))
struct ManPageTests {
    private let folder: LabFolder
    private var directory: URL { URL(filePath: folder.path) }

    init() throws {
        folder = try LabFolder()
        let tool = BuiltProducts.path(of: "netwatch")
        let outcome = try LabProcess.run(Self.script, [tool, folder.path], environment: Self.environment)
        guard outcome.code == 0 else { throw LabError("man-pages", errno: 0, detail: outcome.errors) }
    }

    private static let script = Repository.root.appending(path: "scripts/man-pages").path
    private static let environment = ["PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000"]

    private func page(_ name: String) throws -> String {
        try String(contentsOf: directory.appending(path: name), encoding: .utf8)
    }

    @Test("A page has the usual sections in the usual order")
    func sections() throws {
        let page = try page("netwatch.1")
        let titles = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }.map { String($0.dropFirst(4)) }
        let expected = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES",
            "SEE ALSO",
        ]
        #expect(titles == expected)
        #expect(page.contains("\n.Dd November 14, 2023\n"))
        for text in [
            page, try self.page("netwatch-fetch.1"), try self.page("netwatch-fleet.1"),
            try self.page("netwatch-forward.1"), try self.page("netwatch-outbox.1"),
            try self.page("netwatch-serve.1"), try self.page("netwatch-validate.1"),
        ] {
            #expect(text.firstMatch(of: /@[A-Z]+@/) == nil)
        }
    }

    @Test(
        "The pages have no faults",
        arguments: [
            "netwatch.1", "netwatch-fetch.1", "netwatch-fleet.1", "netwatch-forward.1", "netwatch-outbox.1",
            "netwatch-serve.1", "netwatch-validate.1",
        ]
    )
    func lint(name: String) throws {
        let outcome = try LabProcess.run("/usr/bin/env", ["mandoc", "-T", "lint", directory.path + "/\(name)"])
        // Whether other pages are installed here is irrelevant to this page.
        let faults = outcome.output.split(separator: "\n").filter { !$0.contains("referenced manual not found") }
        #expect(faults.isEmpty, "\(faults)")
    }

    @Test("Each command, and each option of its help, is in one of the pages")
    func complete() throws {
        let tool = BuiltProducts.path(of: "netwatch")
        let names = [
            "netwatch.1", "netwatch-fetch.1", "netwatch-fleet.1", "netwatch-forward.1", "netwatch-outbox.1",
            "netwatch-serve.1", "netwatch-validate.1",
        ]
        let pages = try names.map(page).joined()
        let help = try LabProcess.run(tool, ["--help"]).output
        let commands = try #require(help.split(separator: "SUBCOMMANDS:\n").last).matches(of: #/(?m)^  ([a-z]+) /#)
        #expect(commands.count >= 8)
        for command in commands.map({ String($0.1) }) {
            #expect(pages.contains("\n.Cm \(command) "), "\(command)")
            for option in try LabProcess.run(tool, [command, "--help"]).output.matches(of: #/(?m)^  .*?--([a-z-]+)/#) {
                let name = String(option.1)
                guard !["help", "version"].contains(name) else { continue }
                let written = "Fl \\-" + name.replacing("-", with: "\\-")
                #expect(pages.contains(written), "\(command) --\(name)")
            }
        }
    }

    @Test("Each subcommand of 'outbox', and each of its options, is in its page")
    func outbox() throws {
        let page = try page("netwatch-outbox.1")
        let help = try LabProcess.run(BuiltProducts.path(of: "netwatch-outbox"), ["--help"]).output
        let names = try #require(help.split(separator: "SUBCOMMANDS:\n").last).matches(of: #/(?m)^  ([a-z]+) /#)
        #expect(names.count >= 13)
        for name in names.map({ String($0.1) }) {
            #expect(page.contains("\n.It Cm \(name) "), "\(name)")
            let help = try LabProcess.run(BuiltProducts.path(of: "netwatch-outbox"), [name, "--help"]).output
            for option in help.matches(of: #/(?m)^  (?:-., )?--([a-z-]+)/#)
            where option.1 != "help" && option.1 != "version" {
                #expect(page.contains("Fl \\-" + option.1.replacing("-", with: "\\-")), "\(name) --\(option.1)")
            }
        }
    }

    @Test(
        "What is no tool, and a directory that is none, are told in one line",
        arguments: [
            ["/bin/true", "/tmp"], ["/no/such/tool", "/tmp"], ["", "/no/such/directory"], ["alone"],
        ]
    )
    func refusals(arguments: [String]) throws {
        let given = arguments.map { $0.isEmpty ? BuiltProducts.path(of: "netwatch") : $0 }
        let outcome = try LabProcess.run(Self.script, given, environment: Self.environment)
        #expect(outcome.code == 1)
        #expect(outcome.errors.hasPrefix("man-pages: ") && outcome.errors.filter(\.isNewline) == "\n", "\(outcome)")
    }
}
