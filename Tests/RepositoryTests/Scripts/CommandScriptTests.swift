import Foundation
import NetworkLab
import Testing

@Suite("scripts/netwatch")
struct NetwatchScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        // A build that makes a tool which prints its arguments and fails with 75.
        let tool = "printf '#!/bin/sh\\nprintf \"<%%s>\" \"$@\"; exit 75\\n'"
        try stage.stand(
            in: "swift",
            """
            mkdir -p "$HOME/.build/release"
            for product; do :; done
            \(tool) >"$HOME/.build/release/$product"
            chmod 755 "$HOME/.build/release/$product"
            echo "built with $PKG_CONFIG_PATH"
            """
        )
    }

    @Test("It builds a release with the static runtime, and executes the tool with its arguments")
    func firstRun() throws {
        let outcome = try stage.run("netwatch", "wait", "--timeout", "3 s", "*")
        #expect(outcome.code == 75)
        #expect(outcome.output == "<wait><--timeout><3 s><*>")
        let archives = stage.root.path + "/packaging/pkgconfig"
        let words = "netwatch: building a release of netwatch (the first time takes minutes)\nbuilt with \(archives)\n"
        #expect(outcome.errors == words)
        let build = "-c release --static-swift-stdlib --product netwatch"
        #expect(try stage.calls(of: "swift") == ["swift build --package-path \(stage.root.path) \(build)"])
    }

    @Test(
        "'fetch', 'outbox' and 'serve' are built when they are first asked for, and only then",
        arguments: [
            (["fetch", "http://192.0.2.7/"], ["netwatch-fetch"]), (["help", "fetch"], ["netwatch-fetch"]),
            (["--kind", "a=wifi", "fetch"], ["netwatch-fetch"]), (["--json", "fetch"], ["netwatch-fetch"]),
            (["fetch", "--later", "http://192.0.2.7/"], ["netwatch-fetch", "netwatch-outbox"]),
            (["outbox", "list"], ["netwatch-outbox"]), (["forward", "mqtts://x"], ["netwatch-forward"]),
            (["fleet", "mqtts://x"], ["netwatch-fleet"]),
            (["help", "outbox"], ["netwatch-outbox"]),
            (["validate", "--once"], ["netwatch-validate"]),
            (["status", "--validate", "dns:a"], ["netwatch-validate"]),
            (["run", "--", "x", "--validate"], []), (["--validate=dns:a", "watch"], ["netwatch-validate"]),
            (["serve"], ["netwatchd"]), (["help", "serve"], ["netwatchd"]), (["status"], []),
            (["run", "--", "fetch"], []), (["--help"], []), (["--netns", "fetch", "status"], []),
        ] as [([String], [String])]
    )
    func separateExecutables(arguments: [String], products own: [String]) throws {
        let outcome = try stage.run("netwatch", arguments)
        #expect(outcome.output == arguments.map { "<\($0)>" }.joined())
        let products = try stage.calls(of: "swift").compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(products == ["netwatch"] + own)
        _ = try stage.run("netwatch", ["status"])
        #expect(try stage.calls(of: "swift").isEmpty)
    }

    @Test("No other script says how a release of the tools is built")
    func onePlace() throws {
        let scripts = try Repository.names(in: "scripts").map { "scripts/\($0)" }.filter {
            $0 != "scripts/build-release"
        }
        let others = ["Benchmarks/common.sh", ".ci/run"]
        for script in scripts + others where !script.hasSuffix(".d") {
            let lines = try Repository.read(script).split(separator: "\n")
            #expect(
                lines.contains { $0.contains("swift build") && $0.contains("--product netwatch") } == false,
                "\(script)"
            )
        }
        #expect(try Repository.read("Benchmarks/common.sh").contains(#""$top/scripts/build-release" netwatch"#))
        #expect(
            try Repository.read("scripts/install").contains(#""$root/scripts/build-release" netwatch netwatch-fetch"#)
        )
    }

    @Test("The second run builds nothing and checks nothing")
    func secondRun() throws {
        _ = try stage.run("netwatch")
        _ = try stage.calls(of: "swift")
        let outcome = try stage.run("netwatch", "status")
        #expect(outcome.output == "<status>")
        #expect(outcome.errors == "")
        #expect(try stage.calls(of: "swift", "pkg-config").isEmpty)
    }

    @Test("A changed, new or removed source is built", arguments: ["change", "add", "remove"])
    func changedSource(what: String) throws {
        let source = stage.root.appending(path: "Sources/a.swift")
        try Data().write(to: source)
        _ = try stage.run("netwatch")
        _ = try stage.calls(of: "swift")
        // The stamp's time is set back instead of waiting for the clock.
        let stamp = stage.root.appending(path: ".build/netwatch.stamp")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60)],
            ofItemAtPath: stamp.path
        )
        for path in ["Sources/a.swift", "Sources", "Package.swift"] {
            let date = Date(timeIntervalSinceNow: -120)
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: stage.root.appending(path: path).path
            )
        }
        _ = try stage.run("netwatch")
        #expect(try stage.calls(of: "swift").isEmpty)
        switch what {
        case "change": try Data("let a = 1".utf8).write(to: source)
        case "add": try Data().write(to: stage.root.appending(path: "Sources/b.swift"))
        default: try FileManager.default.removeItem(at: source)
        }
        _ = try stage.run("netwatch")
        #expect(try stage.calls(of: "swift").count == 1)
    }

    @Test("A failed build ends with its code, and is retried the next time")
    func failedBuild() throws {
        try stage.stand(in: "swift", "exit 3")
        #expect(try stage.run("netwatch").code == 3)
        #expect(try stage.run("netwatch").code == 3)
        #expect(try stage.calls(of: "swift").count == 2)
    }
}
