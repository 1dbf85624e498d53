import Foundation
import NetworkLab
import Testing

/// Builds packages of a small program in place of the tool; `scripts/check-deb` installs a real one.
@Suite("scripts/package-deb", .timeLimit(.minutes(5)), .enabled(if: InstallLab.hasCommand("dpkg-shlibdeps")))
struct DebianPackageTests {
    private static let author = ["DEBFULLNAME": "A Packager", "DEBEMAIL": "packager@debian.org"]

    /// Builds the packages, and gives their paths: that of netwatch first.
    private func packages(_ lab: InstallLab) throws -> [String] {
        let outcome = try lab.run("package-deb", ["--tool", lab.tool, "--output", "."], environment: Self.author)
        #expect(outcome.code == 0, "\(outcome)")
        let names = outcome.output.split(separator: "\n").suffix(2)
        try #require(names.count == 2)
        return names.map { lab.root.appending(path: String($0)).path }
    }

    /// The files of a package.
    private func names(in path: String) throws -> Set<String> {
        Set(try ask(path, "--contents", "").split(separator: "\n").map { String($0.split(separator: " ").last ?? "") })
    }

    private func ask(_ path: String, _ arguments: String...) throws -> String {
        try LabProcess.run("/usr/bin/dpkg-deb", arguments.map { $0.isEmpty ? path : $0 }).output
    }

    @Test("It has its files where Debian's policy requires them, with dependencies and origin")
    func contents() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[0]
        let fields = try ask(path, "--field", "")
        #expect(fields.contains("\nMaintainer: A Packager <packager@debian.org>\n"))
        #expect(fields.contains(/\nDepends: libc6 \(>= [0-9.]+\), libncursesw6\n/))
        #expect(path.contains(/netwatch_[0-9.]+_[a-z0-9]+\.deb$/))
        let names = try names(in: path)
        for file in [
            "usr/bin/netwatch", "usr/share/man/man1/netwatch.1.gz", "usr/share/zsh/vendor-completions/_netwatch",
            "usr/share/bash-completion/completions/netwatch", "lib/systemd/system/netwatch.service",
            "lib/systemd/system/netwatch-wait-online.service", "etc/default/netwatch-wait-online",
            "usr/share/doc/netwatch/copyright", "usr/share/doc/netwatch/changelog.gz",
            "usr/share/doc/netwatch/history.md", "usr/share/doc/netwatch/history.svg",
            "usr/share/doc/netwatch/hooks.md", "usr/share/doc/netwatch/live-view.md",
            "usr/share/doc/netwatch/cli.md", "usr/share/doc/netwatch/wait-in-scripts.md",
            "usr/share/doc/netwatch/record-a-problem.md", "usr/share/doc/netwatch/templates.md",
        ] {
            #expect(names.contains("./\(file)"), "\(file)")
        }
        #expect(names.contains { $0.contains("fetch") } == false)
    }

    @Test("netwatch-fetch is a separate package, which depends on netwatch of the same version")
    func fetch() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[1]
        let version = try #require(path.firstMatch(of: /netwatch-fetch_([0-9.]+)_[a-z0-9]+\.deb$/)).1
        let fields = try ask(path, "--field", "")
        #expect(fields.contains("\nDepends: libc6 (>= "))
        #expect(fields.contains(", netwatch (= \(version))\n"), "\(fields)")
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = ["changelog.gz", "copyright", "fetch.md"].map { "usr/share/doc/netwatch-fetch/\($0)" }
        let rest = [
            "usr/bin/netwatch-fetch", "usr/share/lintian/overrides/netwatch-fetch",
            "usr/share/man/man1/netwatch-fetch.1.gz",
        ]
        #expect(names == Set((documents + rest).map { "./\($0)" }))
    }

    @Test("lintian finds no fault", .enabled(if: InstallLab.hasCommand("lintian")))
    func lintian() throws {
        let lab = try InstallLab()
        let arguments = ["--allow-root", "--fail-on", "error,warning", "--no-tag-display-limit"] + (try packages(lab))
        let outcome = try LabProcess.run("/usr/bin/lintian", arguments, within: .seconds(240))
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test("A tool with further dependencies is refused, and they are named")
    func dependencies() throws {
        let lab = try InstallLab(linking: ["z"])
        let outcome = try lab.run("package-deb", ["--tool", lab.tool, "--output", lab.root.path])
        #expect(outcome.code == 65)
        #expect(
            outcome.errors.contains("needs more than a package may: zlib1g (build it by scripts/build-release)"),
            "\(outcome)"
        )
        #expect(
            try lab.files(beneath: "") == ["built", "built-fetch", "built-fetch.c", "built.c", "builtd", "builtd.c"]
        )
    }

    @Test(
        "The check of a package says what it needs",
        arguments: [([], 64, "both packages"), (["/no", "/no"], 66, "no '/no'")]
    )
    func check(arguments: [String], code: Int32, words: String) throws {
        let outcome = try LabProcess.run(Repository.root.appending(path: "scripts/check-deb").path, arguments)
        #expect(outcome.code == code)
        #expect(outcome.errors.contains(words) && outcome.errors.filter(\.isNewline) == "\n", "\(outcome)")
    }

    @Test(
        "Invalid arguments are refused in one line",
        arguments: [
            (["--frob"], 64, "there is no option '--frob'"), (["--output"], 64, "'--output' needs a value"),
            (["--output", "/no/such"], 73, "'/no/such' is no directory"),
        ] as [([String], Int32, String)]
    )
    func usage(arguments: [String], code: Int32, words: String) throws {
        let outcome = try LabProcess.run(Repository.root.appending(path: "scripts/package-deb").path, arguments)
        #expect(outcome.code == code)
        #expect(outcome.errors.contains(words) && outcome.errors.filter(\.isNewline) == "\n", "\(outcome)")
    }
}
