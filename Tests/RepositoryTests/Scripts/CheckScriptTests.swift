import Foundation
import NetworkLab
import Testing

@Suite("scripts/format-check")
struct FormatCheckScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        for file in ["Sources/a.swift", "Tests/b.swift", "Fuzz/c.swift", "Fuzz/.build/d.swift", "Tests/e.txt"] {
            try stage.write("", to: file)
        }
    }

    @Test("It checks every source strictly, and no build product")
    func files() throws {
        #expect(try stage.run("format-check").code == 0)
        let call = try #require(stage.calls(of: "swift").first).split(separator: " ")
        #expect(call.prefix(4) == ["swift", "format", "lint", "--strict"])
        #expect(call.dropFirst(4).sorted() == ["Fuzz/c.swift", "Package.swift", "Sources/a.swift", "Tests/b.swift"])
    }

    @Test("It fails if the format check does")
    func failure() throws {
        try stage.stand(in: "swift", "exit 1")
        #expect(try stage.run("format-check").code != 0)
    }
}

@Suite("scripts/fuzz")
struct FuzzScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        try stage.provideFuzzTargets(runningBody: "echo stat::number_of_executed_units: 9")
    }

    @Test("Each target runs from its seeds for the given time")
    func runs() throws {
        let outcome = try stage.run("fuzz", "7", "FuzzDecoder", "FuzzModel")
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("fuzz: FuzzDecoder for 7 s\nfuzz: FuzzModel for 7 s\n"))
        #expect(outcome.errors.contains("fuzz: FuzzDecoder has none\nstat::number_of_executed_units: 9\n"))
        #expect(outcome.errors.hasSuffix("fuzz: no finding\n"))
        #expect(!outcome.errors.contains("FuzzCapture"))
        let build = try #require(stage.calls(of: "swift").first)
        #expect(build.contains("-sanitize=fuzzer,address"))
    }

    @Test("If asked to, it builds and runs nothing")
    func builds() throws {
        let outcome = try stage.run("fuzz", "--build")
        #expect(outcome.code == 0)
        #expect(try stage.calls(of: "swift").first?.contains("-sanitize=fuzzer,address") == true)
        #expect(outcome.errors == "fuzz: building with libFuzzer and the address sanitizer\n")
        #expect(try stage.run("fuzz", "--build", "1").code == 64)
    }

    @Test("Without arguments all targets with seeds run")
    func allTargets() throws {
        let outcome = try stage.run("fuzz", "1")
        for target in try Repository.names(in: "Fuzz/Corpus") {
            #expect(outcome.errors.contains("fuzz: \(target) for 1 s"))
        }
    }

    @Test("Without a time, what reads messages and streams runs for longer than what reads short texts")
    func times() throws {
        let outcome = try stage.run("fuzz")
        #expect(outcome.code == 0)
        let times = outcome.errors.split(separator: "\n").filter { $0.hasSuffix(" s") }
        let names = try Repository.names(in: "Fuzz/Corpus")
        #expect(times.count == names.count)
        let long: Set = [
            "FuzzCapture", "FuzzDecoder", "FuzzEventStream", "FuzzMQTT", "FuzzModel", "FuzzResponse", "FuzzWebSocket",
        ]
        for name in names { #expect(times.contains("fuzz: \(name) for \(long.contains(name) ? 60 : 10) s")) }
    }

    @Test("A finding ends it, with the fuzzer's message and the command that repeats it")
    func finding() throws {
        try stage.provideFuzzTargets(runningBody: "echo deadly signal; exit 77")
        let outcome = try stage.run("fuzz", "1")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("deadly signal\nfuzz: FuzzDecoder has a finding; see it again by: "))
        // Its neighbour has begun by then.
        #expect(!outcome.errors.contains("FuzzModel for"))
    }

    @Test("Invalid arguments are refused before anything is built", arguments: [["soon"], ["-1"], ["5", "Nonsense"]])
    func usage(arguments: [String]) throws {
        let outcome = try stage.run("fuzz", arguments)
        #expect(outcome.code == 64)
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try stage.calls(of: "swift").isEmpty)
    }
}

@Suite("scripts/docs")
struct DocsScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        try stage.provideDebugBuild()
    }

    @Test("Each library product is documented with what it re-exports, and a warning is an error")
    func products() throws {
        let outcome = try stage.run("docs", "archives")
        #expect(outcome.code == 0, "\(outcome)")
        let calls = try stage.calls(of: "swift", "docc")
        let graphs = calls.filter { $0.hasPrefix("swift symbolgraph-extract ") }
        let conversions = calls.filter { $0.hasPrefix("docc convert ") }
        let products = try Repository.read("Package.swift").matches(of: /\.library\(name: "(\w+)"/).map { $0.1 }
        #expect(products.count == 13 && graphs.count == 13 && conversions.count == 13)
        for product in products {
            #expect(graphs.count { $0.contains(" -module-name \(product) ") } == 1)
            let conversion = try #require(conversions.first { $0.contains(" Sources/\(product)/\(product).docc ") })
            #expect(conversion.contains(" --warnings-as-errors "))
            #expect(conversion.hasSuffix(" --output-path archives/\(product).doccarchive"))
        }
        #expect(graphs.contains { $0.contains("-experimental-allowed-reexported-modules=ReachabilityCore ") })
    }

    @Test("A warning of docc's ends it")
    func warning() throws {
        try stage.stand(in: "docc", "echo warning: no such symbol; exit 1")
        let outcome = try stage.run("docs", [])
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("warning: no such symbol"))
    }

    @Test("Without docc it says what is missing, before anything is built")
    func missing() throws {
        try stage.remove("docc")
        let outcome = try stage.run("docs", [])
        #expect(outcome.code == 69)
        #expect(outcome.errors.contains("docs: docc is missing: "))
        #expect(try stage.calls(of: "swift").isEmpty)
    }
}

@Suite(".ci/run")
struct ContinuousIntegrationTests {
    private let stage: ScriptStage
    private static let closingLine = "✔ Test run with 9 tests in 2 suites passed after 0.1 seconds."
    /// The substitutes write no report, so that there is nothing to add up.
    private static let sum = "All groups together: 0 tests, of which 0 were skipped and 0 failed; passed"

    init() throws {
        stage = try ScriptStage()
        for command in ["bash", "timeout", "stdbuf"] { try stage.provide(command) }
        try stage.stand(in: "true")
        try stage.stand(in: "uname", "echo Linux riscv64")
        // What needs a browser and Prometheus is called, and does nothing.
        try stage.stand(in: "unshare", "case $* in *check-events*) ;; *) shift; exec \"$@\" ;; esac")
        for command in ["apt-get", "chromium", "prometheus"] { try stage.stand(in: command) }
        try stage.write("", to: "Tests/a.swift")
        try stage.provideDebugBuild()
        try stage.provideFuzzTargets(
            runningBody: "echo stat::number_of_executed_units: 9",
            also: """
                case $* in
                test*) echo '\(Self.closingLine)' ;;
                *--show-bin-path*) echo "$HOME/bin" ;;
                *static-swift-stdlib*) \(Self.release) ;;
                esac
                """
        )
        // The group that runs beside another one.
        try stage.stand(in: "netwatchPackageTests.xctest", "echo '\(Self.closingLine)'")
    }

    /// The result of a release build: a tool that does nothing.
    private static let release = """
        for product; do :; done; mkdir -p "$HOME/.build/release"; \
        printf '#!/bin/sh\\n' >"$HOME/.build/release/$product"; chmod 755 "$HOME/.build/release/$product"
        """

    @Test("It checks, tests, documents, tests under the thread sanitizer, fuzzes, and ends with the closing lines")
    func order() throws {
        let outcome = try stage.run(in: ".ci", "run")
        #expect(outcome.code == 0, "\(outcome)")
        let closingLines = Array(repeating: Self.closingLine, count: 5) + [Self.sum]
        #expect(outcome.output.hasSuffix(" ==\n\(closingLines.joined(separator: "\n"))\n"))
        let calls = try stage.calls(of: "swift").map { call in
            call.split(separator: " ").dropFirst().prefix(1) + (call.contains("--sanitize=thread") ? ["thread"] : [])
        }
        let tests = Array(repeating: "test", count: 5)
        // What the tests do not import is built first.
        let documentation = Array(repeating: "build", count: 9) + Array(repeating: "symbolgraph-extract", count: 13)
        // Three groups run without swift test, which says where their program is.
        let group = ["build thread"]
        let sanitized = ["build thread"] + group + ["test thread"] + group + group + ["test thread"]
        var names = calls.map { $0.joined(separator: " ") }
        #expect(outcome.output.contains("\n== event service ("))
        try #require(names.count == 41)
        // The sanitizer's build runs beside the tests and the documentation.
        let background = try #require(names.firstIndex(of: "build thread"))
        #expect((2...30).contains(background))
        names.remove(at: background)
        #expect(Array(names.prefix(30)) == ["format", "build", "build"] + tests + documentation)
        // Two releases and the fuzz targets are built at any time during the sanitizer's tests.
        #expect(names[30..<39].filter { $0 != "build" } == sanitized)
        #expect(names.last == "build")
    }

    @Test("It fails if the kernel lab fails, but not if the lab cannot run")
    func kernelLab() throws {
        let outcome = try stage.run(in: ".ci", "run")
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("kernel-lab: skipped"))
        // The lab treats this as a machine on which it can run, and fails, as nothing was built.
        try stage.stand(in: "uname", "echo Linux x86_64")
        let failing = try stage.run(in: ".ci", "run")
        #expect(failing.code != 0)
        #expect(failing.output.contains("\n== failed: kernel lab (code "))
    }

    @Test("It ends with the first failure, and the last lines name it", arguments: ["format", "build", "test"])
    func failures(command: String) throws {
        try stage.stand(in: "swift", "[ $1 != \(command) ] || { echo a.swift:1:2: error: no; exit 1; }")
        let outcome = try stage.run(in: ".ci", "run")
        #expect(outcome.code != 0)
        let calls = try stage.calls(of: "swift").filter { !$0.contains("--sanitize=thread") }
        #expect(calls.last?.hasPrefix("swift \(command) ") == true)
        let step = ["format": "format check", "build": "build"][command] ?? "tests"
        let lines = outcome.output.split(separator: "\n").suffix(2)
        #expect(lines.first == "a.swift:1:2: error: no")
        #expect(lines.last?.hasPrefix("== failed: \(step) (code ") == true)
    }

    @Test("A finding of the fuzzer ends it, with the fuzzer's message")
    func finding() throws {
        try stage.write("#!/bin/sh\necho deadly signal; exit 77\n", to: "fuzz-target")
        let outcome = try stage.run(in: ".ci", "run")
        #expect(outcome.code == 1)
        #expect(outcome.output.contains("deadly signal\nfuzz: FuzzDecoder has a finding; "))
        #expect(outcome.output.contains("\n== failed: fuzz targets (code 1, "))
    }
}
