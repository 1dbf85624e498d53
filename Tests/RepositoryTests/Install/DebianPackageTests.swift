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
        let names = outcome.output.split(separator: "\n").suffix(7)
        try #require(names.count == 7)
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
        #expect(names.contains { $0.contains("fetch") || $0.contains("outbox") || $0.contains("validat") } == false)
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

    @Test("netwatch-fleet is a separate package, whose table needs ncurses")
    func fleet() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[2]
        let version = try #require(path.firstMatch(of: /netwatch-fleet_([0-9.]+)_[a-z0-9]+\.deb$/)).1
        #expect(try ask(path, "--field", "").contains(", libncursesw6, netwatch (= \(version))\n"))
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = ["changelog.gz", "copyright", "fleet.md"].map { "usr/share/doc/netwatch-fleet/\($0)" }
        let rest = [
            "usr/bin/netwatch-fleet", "usr/share/lintian/overrides/netwatch-fleet",
            "usr/share/man/man1/netwatch-fleet.1.gz",
        ]
        #expect(names == Set((documents + rest).map { "./\($0)" }))
    }

    @Test("netwatch-validate is a separate package, which depends on netwatch of the same version")
    func validate() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[6]
        let version = try #require(path.firstMatch(of: /netwatch-validate_([0-9.]+)_[a-z0-9]+\.deb$/)).1
        #expect(try ask(path, "--field", "").contains(", netwatch (= \(version))\n"))
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = ["changelog.gz", "copyright", "validation.md"].map { "usr/share/doc/netwatch-validate/\($0)" }
        let rest = [
            "usr/bin/netwatch-validate", "usr/share/lintian/overrides/netwatch-validate",
            "usr/share/man/man1/netwatch-validate.1.gz",
        ]
        #expect(names == Set((documents + rest).map { "./\($0)" }))
    }

    @Test("netwatch-forward is a separate package, with its service, which needs the event service")
    func forward() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[3]
        let version = try #require(path.firstMatch(of: /netwatch-forward_([0-9.]+)_[a-z0-9]+\.deb$/)).1
        #expect(try ask(path, "--field", "").contains(", netwatch (= \(version)), netwatchd (= \(version))\n"))
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = ["changelog.gz", "copyright", "fleet.md"].map { "usr/share/doc/netwatch-forward/\($0)" }
        let rest = [
            "etc/default/netwatch-forward", "lib/systemd/system/netwatch-forward.service", "usr/bin/netwatch-forward",
            "usr/share/lintian/overrides/netwatch-forward", "usr/share/man/man1/netwatch-forward.1.gz",
        ]
        #expect(names == Set((documents + rest).map { "./\($0)" }))
    }

    @Test("netwatch-outbox is a separate package, with its service, its user and its folders")
    func outbox() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[4]
        let version = try #require(path.firstMatch(of: /netwatch-outbox_([0-9.]+)_[a-z0-9]+\.deb$/)).1
        #expect(
            try ask(path, "--field", "").contains(", netwatch (= \(version)), systemd | systemd-standalone-sysusers")
        )
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = ["changelog.gz", "copyright", "outbox.md"].map { "usr/share/doc/netwatch-outbox/\($0)" }
        let rest = [
            "lib/systemd/system/netwatch-outbox.service", "lib/systemd/system/netwatchd.service.d/outbox.conf",
            "usr/bin/netwatch-outbox",
            "usr/lib/sysusers.d/netwatch-outbox.conf", "usr/lib/tmpfiles.d/netwatch-outbox.conf",
            "usr/share/lintian/overrides/netwatch-outbox", "usr/share/man/man1/netwatch-outbox.1.gz",
        ]
        #expect(names == Set((documents + rest).map { "./\($0)" }))
    }

    @Test("netwatchd is a separate package, with the units of the service, and enables none")
    func service() throws {
        let lab = try InstallLab()
        let path = try packages(lab)[5]
        #expect(path.contains(/netwatchd_[0-9.]+_[a-z0-9]+\.deb$/))
        #expect(try ask(path, "--field", "").contains(/, netwatch \(= [0-9.]+\)\n/))
        let names = try names(in: path).filter { !$0.hasSuffix("/") }
        let documents = [
            "changelog.gz", "copyright", "event.schema.json", "events.md", "examples/validation.conf", "grafana.json",
        ]
        let rest = [
            "etc/default/netwatchd", "lib/systemd/system/netwatchd.service", "lib/systemd/system/netwatchd.socket",
            "usr/bin/netwatchd", "usr/share/lintian/overrides/netwatchd", "usr/share/man/man1/netwatch-serve.1.gz",
            "usr/share/man/man1/netwatchd.1.gz",
        ]
        #expect(names == Set((documents.map { "usr/share/doc/netwatchd/\($0)" } + rest).map { "./\($0)" }))
        let script = try ask(path, "--info", "", "postinst")
        #expect(script.contains("netwatchd.socket netwatchd.service") && !script.contains("systemctl enable"))
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
            try lab.files(beneath: "") == [
                "built", "built-fetch", "built-fetch.c", "built-fleet", "built-fleet.c", "built-forward",
                "built-forward.c", "built-outbox", "built-outbox.c", "built-validate", "built-validate.c", "built.c",
                "builtd", "builtd.c",
            ]
        )
    }

    @Test(
        "The check of the packages says what it needs",
        arguments: [([], 64, "all packages"), (Array(repeating: "/no", count: 7), 66, "no '/no'")]
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
