import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// Wrong arguments, and a missing executable.
@Suite(.blocksItsThread) struct ValidateErrorTests {
    @Test(arguments: [
        (["wait", "--validated"], "--validated needs --validate URL"),
        (["run", "--validated", "--", "true"], "--validated needs --validate URL"),
        (["wait", "--validate", "dns:a"], "--validate needs --validated here"),
        (["wait", "--validated", "--validate", "dns:a", "--for", "notReachable"], "leave out --validated"),
        (["wait", "--validated", "--validate", "dns:a", "--to", "192.0.2.7"], "leave out --to"),
        (["status", "--validate", "gopher://a"], "'gopher' is no scheme for it"),
        (["status", "--validate-metered"], "--validate-metered needs --validate"),
        (["explain", "--validate-cacert", "x"], "--validate-cacert needs --validate"),
        (["validate"], "no server is named; write --validate URL"),
        (["validate", "--validate", "http://"], "it is no usable URL"),
        (["validate", "--validate", "dns:a", "--timeout", "5"], "the unit is missing; write a number and a unit"),
        (["validate", "--validate", "dns:a", "--timeout", "-1s"], "a duration can't be negative"),
    ])
    func `a usage error is one line`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(arguments, in: LabNamespace())
        #expect(try tool.exitCode() == 64)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: ") && errors.contains(words), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
    }

    @Test(arguments: [
        (["--validate-cacert", "/no/such/file"], "--validate-cacert: "),
        (["--validate", "tls://a#pin=x"], #"--validate: the pin "x" is not of the form sha256/BASE64"#),
    ])
    func `what only the other process can check ends the tool with its error`(
        arguments: [String],
        words: String
    ) throws {
        let commands = [["status"], ["watch", "--json"], ["explain"], ["wait", "--validated"]]
        for command in commands {
            let tool = try ToolProcess(command + ["--validate", "dns:a"] + arguments, in: LabNamespace())
            #expect(try tool.exitCode() == 64, "\(command)")
            let errors = try tool.errors.rest()
            #expect(errors.hasPrefix("netwatch: " + words) && errors.filter(\.isNewline) == "\n", "\(errors)")
        }
    }

    @Test(arguments: [
        ["status"], ["watch", "--json"], ["explain"], ["wait", "--validated"], ["run", "--validated", "--", "true"],
    ])
    func `a missing executable is one error with the package's name`(command: [String]) throws {
        let folder = try LabFolder()
        let copy = folder.path + "/netwatch"
        let lab = try LabNamespace()
        let end = command.firstIndex(of: "--") ?? command.endIndex
        let words = command[..<end] + ["--validate", "http://192.0.2.7/"] + command[end...]
        let tool = try ToolProcess(
            Array(words),
            in: lab,
            through: ["/bin/sh", "-c", #"cp "$1" "$0" && shift && exec "$0" "$@""#, copy]
        )
        #expect(try tool.exitCode() == 69)
        let errors = try tool.errors.rest()
        #expect(
            errors.contains("there is no '\(folder.path)/netwatch-validate'; install the package netwatch-validate")
        )
        #expect(errors.hasPrefix("netwatch: ") && errors.filter(\.isNewline) == "\n")
    }
}
