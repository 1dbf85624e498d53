import Foundation
import NetworkLab
import Testing

@Suite("scripts/test.d/failures")
struct FailureListTests {
    private let stage: ScriptStage

    init() throws { stage = try ScriptStage() }

    /// The summary that it prints of a log.
    private func told(of log: String, _ arguments: String...) throws -> String {
        try stage.write(log, to: "log")
        let outcome = try stage.run(
            in: "scripts/test.d",
            "failures",
            [stage.root.appending(path: "log").path] + arguments
        )
        #expect(outcome.code == 0)
        #expect(outcome.errors == "")
        return outcome.output
    }

    @Test("Each issue is listed with its details, without the failures that follow from it")
    func issues() throws {
        let log = #"""
            ◇ Test "named "x"" started.
            ✘ Test "named "x"" recorded an issue at a.swift:4:35: Expectation failed: (1 + 1 → 2) == 3
            ↳ a comment
              of two lines
            ✔ Test "a b" passed after 0.004 seconds.
            ✘ Test d(n:) recorded an issue with 1 argument n → 1 at a.swift:7:82: Expectation failed: a == b
            ± inserted [2, 3]
            ✘ Test e() recorded an issue at a.swift:9:9: Expectation failed: (failure → "seed 5
            lookup: kernel a, model b
            last:
            route" → nil) == nil
            ✘ Test "named "x"" failed after 0.004 seconds with 1 issue.
            ✘ Test d(n:) with 2 test cases failed after 0.004 seconds with 2 issues.
            ✘ Test alone() failed after 0.004 seconds with 2 issues.
            ✘ Suite A failed after 0.008 seconds with 4 issues.
            ✘ Test run with 4 tests in 1 suite failed after 0.056 seconds with 4 issues.
            error: Exited with code 1
            """#
        let expected = #"""
            ✘ Test "named "x"" recorded an issue at a.swift:4:35: Expectation failed: (1 + 1 → 2) == 3
                ↳ a comment
                  of two lines
            ✘ Test d(n:) recorded an issue with 1 argument n → 1 at a.swift:7:82: Expectation failed: a == b
                ± inserted [2, 3]
            ✘ Test e() recorded an issue at a.swift:9:9: Expectation failed: (failure → "seed 5
                lookup: kernel a, model b
                last:
                route" → nil) == nil
            ✘ Test alone() failed after 0.004 seconds with 2 issues.

            """#
        #expect(try told(of: log) == expected)
    }

    @Test("A crash is listed with its signal, its place and the tests that were running")
    func crash() throws {
        let log = #"""
            ◇ Test run started.
            ◇ Test "over" started.
            ◇ Test d(n:) started.
            ◇ Test case passing 1 argument n → 1 to d(n:) started.
            ◇ Test "skipped" started.
            ◇ Test "crashes" started.
            ✔ Test "over" passed after 0.004 seconds.
            ✔ Test d(n:) with 2 test cases passed after 0.004 seconds.
            ➜ Test "skipped" skipped.
            Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range

            *** Signal 4: Backtracing from 0x7fb826f6df7f... done ***

            *** Program crashed: Illegal instruction at 0x00007fb826f6df7f ***

            Thread 0 "crashPackageTes":

              0      0x00007fb825692301 sigsuspend + 65 in libc.so.6

            Thread 4 "oot.default-qos" crashed:

              0      0x00007fb826f6df7f _assertionFailure(_:_:file:line:flags:) + 623 in libswiftCore.so
              1 [ra] 0x0000562501a3e850 A.`crashes so`() + 127 in Tests.xctest at /tmp/a.swift:3:57
            ...

            Thread 5 "oot.default-qos":

              0      0x00007fb825757829 syscall + 25 in libc.so.6
            libTesting.so error: Process '/tmp/Tests.xctest' exited with unexpected signal code 4
            """#
        let expected = #"""
            Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range
            *** Signal 4
            *** Program crashed: Illegal instruction at 0x00007fb826f6df7f ***
            Thread 4 "oot.default-qos" crashed:
              0      0x00007fb826f6df7f _assertionFailure(_:_:file:line:flags:) + 623 in libswiftCore.so
              1 [ra] 0x0000562501a3e850 A.`crashes so`() + 127 in Tests.xctest at /tmp/a.swift:3:57
            it ended by an unexpected signal code 4
            These tests ran then:
              "crashes"

            """#
        #expect(try told(of: log) == expected)
    }

    @Test("A warning of the thread sanitizer is listed once, with the tops of its stacks")
    func warnings() throws {
        let warning = """
            ==================
            WARNING: ThreadSanitizer: data race (pid=15616)
              Write of size 8 at 0x726000032088 by thread T4:
                #0 first /src/Sources/A.swift:32:55 (Tests.xctest+0x2023580) (BuildId: 379d0676)
                #1 second crtstuff.c (libdispatch.so+0x71e5f) (BuildId: b9f34903)
                #2 third crtstuff.c (libdispatch.so+0x2c087) (BuildId: cb8d2d3c)
                #3 fourth crtstuff.c (libdispatch.so+0x2c088) (BuildId: cb8d2d3c)

              Previous read of size 8 at 0x726000032088 by thread T23:
                #0 other /src/Sources/B.swift:90:26 (Tests.xctest+0x11b9d3b) (BuildId: 379d0676)

              Thread T4 'oot.default-qos' (tid=15623, running) created by thread T2 at:
                #0 pthread_create tsan_interceptors_posix.cpp:1094:3 (Tests.xctest+0x240ffa) (BuildId: 379d0676)

            SUMMARY: ThreadSanitizer: data race /src/Sources/A.swift:32:55 in first
            ==================
            """
        let expected = """
            WARNING: ThreadSanitizer: data race (pid=15616)
              Write of size 8 at 0x726000032088 by thread T4:
                #0 first A.swift:32:55
                #1 second crtstuff.c
                #2 third crtstuff.c
              Previous read of size 8 at 0x726000032088 by thread T23:
                #0 other B.swift:90:26

            """
        let passed = "\n✔ Test run with 4 tests in 1 suite passed after 0.056 seconds.\n"
        #expect(try told(of: warning + passed + warning + passed) == expected)
    }

    @Test("A scenario of the kernel lab is listed with its difference")
    func scenarios() throws {
        let log = "bond   1.0 s  FAILED\n    -said\n    +other\nwifi   2.0 s  ok\n2 scenarios, 1 failed, 3 s\n"
        #expect(try told(of: log) == "bond   1.0 s  FAILED\n    -said\n    +other\n")
    }

    @Test("Lines and their lengths are limited, and omissions are reported")
    func limits() throws {
        let issues = (1...200).map { "✘ Test t\($0)() recorded an issue at a.swift:4:35: no\n" }
        let lines = try told(of: issues.joined()).split(separator: "\n")
        #expect(lines.count <= 60)
        #expect(lines.last == "  ... and \(200 - lines.count + 1) more")
        #expect(try told(of: issues.joined(), "7").split(separator: "\n").count == 7)
        let long = "✘ Test t() recorded an issue at " + String(repeating: "ä", count: 5000)
        #expect(try told(of: long).utf8.count < 400)
    }

    @Test("Of an unknown failure the end is listed")
    func unknown() throws {
        let lines = (1...100).map { "line \($0)\n" }
        #expect(try told(of: lines.joined()) == lines.suffix(15).joined())
    }
}
