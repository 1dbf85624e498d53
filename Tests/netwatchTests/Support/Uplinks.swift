import CommandLineLab
import NetworkLab
import Testing

/// A namespace with a Wi-Fi and a cellular uplink: veth pairs whose kinds `--kind` sets.
struct Uplinks {
    let lab: LabNamespace

    /// The options that set the kinds.
    static let kinds = ["--kind", "wlan0=wifi", "--kind", "wwan0=cellular"]

    /// Makes both, with carrier but not up and without addresses.
    init() throws {
        lab = try LabNamespace()
        // Link-local addresses are usable immediately: no story waits for duplicate address detection.
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        try lab.rtnl.createVeth("wlan0", index: 10, peer: "ap0", peerIndex: 20)
        try lab.rtnl.createVeth("wwan0", index: 11, peer: "tower0", peerIndex: 21)
        try lab.rtnl.setUp("ap0", "tower0")
    }

    /// Makes the Wi-Fi uplink work.
    func connectWiFi() throws {
        try lab.rtnl.setUp("wlan0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "wlan0")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
    }

    /// Makes the cellular uplink work, with a higher metric than the other.
    func connectCellular() throws {
        try lab.rtnl.setUp("wwan0")
        try lab.rtnl.addAddress("198.51.100.2/24", on: "wwan0")
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
    }

    /// Starts the tool here.
    func tool(_ arguments: String..., stdout: ToolProcess.Destination = .pipe) throws -> ToolProcess {
        try ToolProcess(arguments, in: lab, stdout: stdout)
    }

    /// Returns what a command prints whose `--timeout` passes, with one that is long enough for some words to be in it.
    func timeoutMessage(of command: String, _ options: [String], naming words: String) throws -> String {
        try TimeLimit.lengthened { limit in
            let tool = try ToolProcess([command, "--timeout", limit] + options, in: lab)
            #expect(try tool.exitCode() == 75)
            #expect(try tool.output.rest() == "")
            return try tool.errors.rest()
        } until: {
            $0.contains(words)
        }
    }
}
