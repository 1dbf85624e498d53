import NetworkLab
import Testing

/// Compares docs/cli.md with the tool's own help.
@Suite struct CommandPageTests {
    private let sections: [Substring]
    private let commands: [String]

    init() throws {
        sections = try Repository.read("docs/cli.md").split(separator: "\n## ")
        let help = try #require(try Self.help([]).split(separator: "SUBCOMMANDS:\n").last)
        commands = help.matches(of: #/(?m)^  ([a-z]+) /#).map { String($0.1) }
    }

    private static func help(_ command: [String]) throws -> String {
        try LabProcess.run(BuiltProducts.path(of: "netwatch"), command + ["--help"]).output
    }

    private func section(_ title: String) throws -> Substring {
        try #require(sections.first { $0.hasPrefix("\(title)\n") }, "there is no section '\(title)'")
    }

    @Test func `the table lists every command, and each has a section`() throws {
        #expect(commands.count >= 9)
        let table = try #require(try MarkdownPage("docs/cli.md").tables.first)
        let listed = table.dropFirst(2).map { $0[0].filter { !"[`]".contains($0) }.prefix { $0 != "(" } }
        #expect(listed.map(String.init).sorted() == commands.sorted())
        for command in commands { _ = try section("netwatch \(command)") }
    }

    @Test func `each option of a command is in its section or among the common options`() throws {
        let common = try section("Common options")
        for command in commands where command != "fetch" {
            let own = try section("netwatch \(command)")
            for option in try Self.help([command]).matches(of: #/(?m)^  (?:-., )?--([a-z-]+)/#) {
                let name = "`--\(option.1)"
                let isListed = own.contains(name) || common.contains(name) || ["help", "version"].contains(option.1)
                #expect(isListed, "\(command) --\(option.1)")
            }
        }
    }
}
