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
        let path = "\"$HOME/.build/release/netwatch\""
        try stage.stand(
            in: "swift",
            "mkdir -p \"$HOME/.build/release\"; \(tool) >\(path); chmod 755 \(path); echo built"
        )
    }

    @Test("It builds a release with the static runtime, and becomes the tool with its arguments and exit code")
    func firstRun() throws {
        let outcome = try stage.run("netwatch", "wait", "--timeout", "3 s", "*")
        #expect(outcome.code == 75)
        #expect(outcome.output == "<wait><--timeout><3 s><*>")
        #expect(outcome.errors == "netwatch: building a release (the first time takes minutes)\nbuilt\n")
        let build = "-c release --static-swift-stdlib --product netwatch"
        #expect(try stage.calls(of: "swift") == ["swift build --package-path \(stage.root.path) \(build)"])
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
        // The stamp's time is put back instead of waiting for the clock to go on.
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

    @Test("A failed build ends with its code, and is tried again the next time")
    func failedBuild() throws {
        try stage.stand(in: "swift", "exit 3")
        #expect(try stage.run("netwatch").code == 3)
        #expect(try stage.run("netwatch").code == 3)
        #expect(try stage.calls(of: "swift").count == 2)
    }
}

@Suite("scripts/test")
struct TestScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        try stage.stand(in: "true")
        try stage.stand(in: "unshare", "shift; exec \"$@\"")
    }

    @Test("It builds outside, and runs the tests in namespaces of their own with the arguments given")
    func runs() throws {
        let outcome = try stage.run("test", "--filter", "a b")
        #expect(outcome.code == 0)
        #expect(outcome.errors == "test: building\ntest: running the tests (unshare -rn)\n")
        let path = "--package-path \(stage.root.path)"
        #expect(
            try stage.calls(of: "unshare", "ip", "swift") == [
                "unshare -rn true",
                "swift build \(path) --build-tests",
                #"unshare -rn sh -c ip link set dev lo up && exec "$@" sh swift test \#(path) --skip-build --filter a b"#,
                "ip link set dev lo up",
                "swift test \(path) --skip-build --filter a b",
            ]
        )
    }

    @Test("What decides how the code is built goes to the build too")
    func buildArguments() throws {
        let arguments = "--sanitize=thread --scratch-path it's"
        #expect(try stage.run("test", "--sanitize=thread", "--scratch-path", "it's", "--filter", "X").code == 0)
        let path = "--package-path \(stage.root.path)"
        #expect(
            try stage.calls(of: "swift") == [
                "swift build \(path) --build-tests \(arguments)",
                "swift test \(path) --skip-build \(arguments) --filter X",
            ]
        )
    }

    @Test("Root without user namespaces goes without one")
    func withoutUserNamespace() throws {
        try stage.stand(in: "unshare", "[ $1 = -n ] || exit 1; shift; exec \"$@\"")
        #expect(try stage.run("test").code == 0)
        // One reading of the log, which forgets what it has told.
        let calls = try stage.calls(of: "unshare", "swift")
        #expect(calls.contains { $0.hasPrefix("unshare -n sh -c") })
        #expect(calls.last?.hasPrefix("swift test") == true)
    }

    @Test("Where no namespace is to be had, two lines say what to do, and nothing is built")
    func refused() throws {
        try stage.stand(in: "unshare", "exit 1")
        let outcome = try stage.run("test")
        #expect(outcome.code == 77)
        #expect(outcome.errors.contains("kernel.unprivileged_userns_clone=1"))
        #expect(try stage.calls(of: "swift").isEmpty)
    }

    @Test("A failed build ends it with the build's code")
    func failedBuild() throws {
        try stage.stand(in: "swift", "exit 3")
        #expect(try stage.run("test").code == 3)
        #expect(try stage.calls(of: "swift").count == 1)
    }
}
