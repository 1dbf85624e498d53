import NetworkLab
import Testing

@Suite("scripts/kernel-lab")
struct KernelLabScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        try stage.provide("bash")
        try stage.stand(in: "uname", "echo Linux x86_64")
        for scenario in ["one", "two"] { try stage.write("", to: "Tests/KernelLab/scenarios/\(scenario).sh") }
    }

    @Test("The scenarios are listed by name")
    func list() throws {
        #expect(try stage.run("kernel-lab", "--list").output == "one\ntwo\n")
    }

    @Test("If a command is missing it reports what is skipped, why, and the remedy, and builds nothing")
    func missing() throws {
        try stage.remove("qemu-system-x86_64")
        try stage.remove("jq")
        let outcome = try stage.run("kernel-lab", [])
        #expect(outcome.code == 77)
        let line = "skipped, 2 scenarios: missing qemu-system-x86 jq; scripts/setup --for-kernel-lab installs that"
        #expect(outcome.errors == "kernel-lab: \(line)\n")
        #expect(try stage.calls(of: "swift", "apt-get").isEmpty)
    }

    @Test("On another architecture it is skipped")
    func otherMachine() throws {
        try stage.stand(in: "uname", "echo Linux aarch64")
        let outcome = try stage.run("kernel-lab", "one")
        #expect(outcome.code == 77)
        #expect(outcome.errors.hasPrefix("kernel-lab: skipped, 1 scenarios: "))
    }

    @Test(
        "Invalid arguments are refused in one line",
        arguments: [["three"], ["--repeat"], ["--repeat", "0"], ["--repeat", "x"], ["--recrod"]]
    )
    func usage(arguments: [String]) throws {
        let outcome = try stage.run("kernel-lab", arguments)
        #expect(outcome.code == 64)
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test("Its help is the comment at its beginning")
    func help() throws {
        let outcome = try stage.run("kernel-lab", "--help")
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("usage: scripts/kernel-lab [--list]"))
        #expect(!outcome.output.contains("#"))
    }
}
