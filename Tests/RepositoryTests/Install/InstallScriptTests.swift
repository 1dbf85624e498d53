import Foundation
import NetworkLab
import Testing

@Suite("scripts/install", .timeLimit(.minutes(5)))
struct InstallScriptTests {
    private let lab: InstallLab

    init() throws { lab = try InstallLab() }

    /// The installed files, relative to the prefix.
    static let files = [
        "bin/netwatch", "bin/netwatch-fetch", "bin/netwatch-fleet", "bin/netwatch-forward", "bin/netwatch-outbox",
        "bin/netwatch-validate", "bin/netwatchd",
        "lib/systemd/system/netwatch-forward.service", "lib/systemd/system/netwatch-outbox.service",
        "lib/systemd/system/netwatch-wait-online.service",
        "lib/systemd/system/netwatch.service", "lib/systemd/system/netwatchd.service",
        "lib/systemd/system/netwatchd.socket", "lib/sysusers.d/netwatch-outbox.conf",
        "lib/tmpfiles.d/netwatch-outbox.conf", "share/bash-completion/completions/netwatch",
        "share/fish/vendor_completions.d/netwatch.fish", "share/man/man1/netwatch-fetch.1",
        "share/man/man1/netwatch-fleet.1", "share/man/man1/netwatch-forward.1", "share/man/man1/netwatch-outbox.1",
        "share/man/man1/netwatch-serve.1", "share/man/man1/netwatch-validate.1", "share/man/man1/netwatch.1",
        "share/zsh/site-functions/_netwatch",
    ]

    private func install(_ arguments: String..., environment: [String: String] = [:]) throws -> LabProcess.Outcome {
        try lab.run("install", ["--tool", lab.tool] + arguments, environment: environment)
    }

    @Test("It installs below the prefix, lists each file and the next steps, and the installed tool works")
    func installs() throws {
        let prefix = lab.root.appending(path: "there").path
        let outcome = try install("--prefix", prefix)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try lab.files(beneath: "there") == Self.files)
        for file in Self.files { #expect(outcome.output.contains("install: \(prefix)/\(file)\n")) }
        #expect(outcome.output.contains("\(prefix)/bin is not in your PATH"))
        #expect(outcome.errors == "")
        let version = try LabProcess.run("\(prefix)/bin/netwatch", ["--version"])
        #expect(version.output.hasPrefix("netwatch "))
        for unit in Self.files where unit.hasSuffix(".service") {
            let text = try lab.read("there/\(unit)")
            #expect(text.contains("\nExecStart=\(prefix)/bin/netwatch"))
            #expect(text.contains("\nDynamicUser=yes\n"), "\(text)")
            #expect(text.firstMatch(of: /@[A-Z]+@/) == nil, "\(text)")
        }
        let modes = try LabProcess.run("/usr/bin/env", ["find", prefix, "-type", "f", "-perm", "/111"])
        let names = [
            "netwatch", "netwatch-fetch", "netwatch-fleet", "netwatch-forward", "netwatch-outbox", "netwatch-validate",
            "netwatchd",
        ]
        let programs = names.map { "\(prefix)/bin/\($0)" }
        #expect(modes.output.split(separator: "\n").map(String.init).sorted() == programs)
    }

    @Test("It replaces an older installation, and uninstalls completely, except for the files of others")
    func uninstalls() throws {
        let prefix = lab.root.appending(path: "there").path
        #expect(try install("--prefix", prefix).code == 0)
        #expect(try install("--prefix=\(prefix)/").code == 0)
        try Data().write(to: lab.root.appending(path: "there/share/man/man1/other.1"))
        let outcome = try install("--prefix", prefix, "--uninstall")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try lab.files(beneath: "there") == ["share/man/man1/other.1"])
        // Directories that any prefix has stay, even if they are empty.
        let directories = try LabProcess.run("/usr/bin/env", ["-C", prefix, "find", ".", "-type", "d"])
        let kept = [".", "./bin", "./lib", "./share", "./share/man", "./share/man/man1"]
        #expect(directories.output.split(separator: "\n").sorted() == kept.map { Substring($0) })
        let again = try install("--prefix", prefix, "--uninstall")
        #expect(again.code == 1)
        #expect(again.errors == "install: there is no netwatch beneath '\(prefix)'; \(Self.remedy)\n")
    }

    private static let remedy = "give the --prefix that it was installed with"

    @Test("With DESTDIR everything is installed below it, as if the prefix were there")
    func destination() throws {
        let stage = lab.root.appending(path: "stage").path
        let outcome = try install(environment: ["DESTDIR": stage])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try lab.files(beneath: "stage") == Self.files.map { "usr/local/\($0)" })
        let unit = try lab.read("stage/usr/local/lib/systemd/system/netwatch.service")
        #expect(unit.contains("\nExecStart=/usr/local/bin/netwatch watch --json\n"))
        #expect(outcome.output.contains("systemctl") == false)
    }

    @Test("An installation for one user explains how zsh finds the completions")
    func completions() throws {
        let home = lab.root.appending(path: "home").path
        let outcome = try install("--prefix", "\(home)/.local", environment: ["HOME": home])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.contains(": fpath=(\(home)/.local/share/zsh/site-functions $fpath)\n"), "\(outcome)")
    }

    @Test("A relative DESTDIR is relative to the current directory")
    func relativeDestination() throws {
        for arguments in [[], ["--uninstall"]] as [[String]] {
            let all = ["--tool", lab.tool] + arguments
            let outcome = try lab.run("install", all, environment: ["DESTDIR": "stage/of/it"])
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("\(lab.root.path)/stage/of/it/usr/local/bin/netwatch\n"))
        }
        #expect(try lab.files(beneath: "stage").isEmpty)
    }

    @Test(
        "An impossible installation is refused in one line, before anything is written",
        arguments: [
            (["--frob"], 64, "there is no option '--frob'"), (["--prefix"], 64, "'--prefix' needs a value"),
            (["--prefix", ""], 64, "is empty"), (["--prefix", "usr"], 64, "is not absolute"),
            (["--prefix", "/tmp/a b"], 64, "has a character that a systemd unit can't have"),
            (["--prefix", "/tmp/%n"], 64, "has a character"),
            (["--prefix", "/tmp/x", "--tool", "/no/such"], 66, "'/no/such' is no program"),
            (["--prefix", "/tmp/x", "--tool", "/bin/true"], 65, "'/bin/true' is not netwatch"),
        ] as [([String], Int32, String)]
    )
    func refusals(arguments: [String], code: Int32, words: String) throws {
        let environment = ["DESTDIR": lab.root.path + "/stage"]
        let outcome = try lab.run("install", ["--tool", lab.tool] + arguments, environment: environment)
        #expect(outcome.code == code, "\(outcome)")
        #expect(outcome.errors.contains(words) && outcome.errors.filter(\.isNewline) == "\n", "\(outcome)")
        #expect(FileManager.default.fileExists(atPath: lab.root.path + "/stage") == false)
    }

    @Test(
        "A tool without one of the other programs next to it is refused before anything is written",
        arguments: ["-fetch", "-fleet", "-forward", "-outbox", "-validate", "d"]
    )
    func incomplete(missing: String) throws {
        try FileManager.default.removeItem(atPath: lab.tool + missing)
        let outcome = try install("--prefix", lab.root.path + "/there")
        #expect(outcome.code == 66)
        let remedy =
            "build all next to each other: scripts/build-release netwatch netwatch-fetch netwatch-fleet netwatch-forward "
            + "netwatch-outbox netwatchd netwatch-validate"
        #expect(outcome.errors == "install: there is no '\(lab.tool)\(missing)'; \(remedy)\n")
        #expect(FileManager.default.fileExists(atPath: lab.root.path + "/there") == false)
    }

    @Test("A prefix that cannot be a directory is an error")
    func noDirectory() throws {
        let outcome = try install("--prefix", "\(lab.tool)/there")
        #expect(outcome.code == 73)
        #expect(outcome.errors == "install: '\(lab.tool)' is no directory; give another --prefix\n")
    }

    @Test("A prefix that may not be written is an error with the remedy")
    func privilege() throws {
        let prefix = lab.root.appending(path: "closed")
        try FileManager.default.createDirectory(at: prefix, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: prefix.path)
        let script = Repository.root.appending(path: "scripts/install").path
        // Root without its capabilities is refused like any user.
        let outcome = try LabProcess.run(
            "/usr/bin/setpriv",
            ["--bounding-set=-all", "--inh-caps=-all", script, "--prefix", prefix.path, "--tool", lab.tool]
        )
        #expect(outcome.code == 77, "\(outcome)")
        #expect(outcome.errors.contains("you may not write '\(prefix.path)'; give --prefix $HOME/.local"))
        #expect(try lab.files(beneath: "closed").isEmpty)
    }
}
