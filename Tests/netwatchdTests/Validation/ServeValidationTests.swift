import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// `netwatch serve --validate` with the real `netwatch-validate`, on a machine whose Wi-Fi has a captive portal.
@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct ServeValidationTests {
    private let uplinks: LabUplinks
    private let folder: LabFolder
    /// Whether the portal lets the machine through.
    private let isOpen = Observed(false)
    /// The number of connections to it.
    private let connections = Observed(0)
    private let portal: ScriptedServer

    private static let kinds = ["--kind", "wlan*=wifi", "--kind", "wwan*=cellular"]
    private static let server = "http://\(LabUplinks.server)/generate_204"

    init() throws {
        (uplinks, folder) = (try LabUplinks(), try LabFolder())
        try uplinks.wifi.rtnl.setUp("lo")
        portal = try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: uplinks.wifi, port: 80) { [isOpen, connections] _ in
            connections.update { $0 += 1 }
            let login = "HTTP/1.1 302 Found\r\nLocation: http://hotel.example/login\r\nContent-Length: 0\r\n"
            let head = isOpen.value ? "HTTP/1.1 204 No Content\r\n" : login
            return [.readRequest, .send(head + "Connection: close\r\n\r\n"), .close]
        }
    }

    private var socket: String { folder.path + "/events.sock" }

    private func serve(_ arguments: [String]) throws -> ToolProcess {
        try ToolProcess(["serve", "--socket", socket] + Self.kinds + arguments, in: uplinks.home)
    }

    private func get(_ target: String) throws -> String {
        let client = try EventClient(path: socket)
        client.request(target)
        return try client.response().body
    }

    /// The next event with a different verdict; that no server was reached is left out, as a machine that pauses reaches none
    /// within the limit of a probe.
    private func verdict(_ events: EventClient, after last: String?) throws -> JSONValue {
        while true {
            let object = try events.object()
            if let verdict = object["validation"]?["verdict"]?.text, verdict != last, verdict != "noInternet" {
                return object
            }
        }
    }

    private func follow() throws -> EventClient {
        let client = try EventClient(path: socket)
        client.request("/v1/events")
        #expect(try client.head().status == 200)
        return client
    }

    /// The processes that a process has started, by the name of their executable.
    private static func children(of process: pid_t) throws -> [pid_t: String] {
        let output = try LabProcess.run("/bin/ps", ["-o", "pid=,comm=", "--ppid", "\(process)"]).output
        let words = output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
        return Dictionary(words.map { (pid_t($0[0]) ?? 0, String($0[1])) }) { first, _ in first }
    }

    @Test func `a portal is an event with its page, and once it opens the path is validated`() throws {
        let service = try serve(["--validate", Self.server, "--journal", folder.path + "/journal"])
        let events = try follow()
        let held = try verdict(events, after: "notChecked")
        #expect(held["status"]?.text == "wifi" && held["validation"]?["verdict"]?.text == "portal", "\(held)")
        #expect(held["validation"]?["loginURL"]?.text == "http://hotel.example/login")
        #expect(held["validation"]?["path"]?["interface"]?.text == "wlan0")
        #expect(try get("/metrics").contains("\nnetwatch_validation{verdict=\"portal\"} 1\n"))
        #expect(try get("/").contains(">http://hotel.example/login</a>"))
        isOpen.update { $0 = true }
        let open = try verdict(events, after: "portal")
        #expect(open["event"]?.text == "validation" && open["validation"]?["verdict"]?.text == "validated", "\(open)")
        #expect(try JSONParser.parse(get("/v1/state"))["validation"]?["verdict"]?.text == "validated")
        let report = try LabProcess.run(ToolBinary.path, ["history", "--socket", socket, "--since", "1d"])
        #expect(report.code == 0 && report.output.contains("\nno outage\n\nlimited from "), "\(report)")
        #expect(report.output.contains("  portal at http://hotel.example/login\n"))
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        #expect(try service.errors.rest() == "")
    }

    @Test func `a verdict ends with its path, and a metered path is not probed`() throws {
        isOpen.update { $0 = true }
        let service = try serve(["--validate", Self.server])
        defer { service.send(SIGTERM) }
        let events = try follow()
        _ = try verdict(events, after: "notChecked")
        try uplinks.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try uplinks.home.rtnl.deleteRoute("default", via: "2001:db8:1::1", on: "wlan0", metric: 600)
        var object = try events.object()
        while object["status"]?.text != "cellular" { object = try events.object() }
        #expect(object["validation"]?["verdict"]?.text != "validated")
        try uplinks.addWiFiRoutes()
        #expect(try verdict(events, after: "notChecked")["path"]?["interface"]?["name"]?.text == "wlan0")
    }

    @Test func `the validator ends with the service, however that ends`() throws {
        let service = try serve(["--validate", Self.server])
        let events = try follow()
        _ = try verdict(events, after: "notChecked")
        let children = try Self.children(of: service.id)
        #expect(children.values.map { String($0) } == ["netwatch-valida"], "\(children)")
        service.send(SIGKILL)
        #expect(try service.exitCode() == 1000 + SIGKILL)
        let child = try #require(children.keys.first)
        let deadline = ContinuousClock.now + .seconds(60)
        while try Self.isRunning(child), ContinuousClock.now < deadline { usleep(1_000) }
        #expect(try !Self.isRunning(child))
    }

    private static func isRunning(_ process: pid_t) throws -> Bool {
        let state = try LabProcess.run("/bin/ps", ["-o", "stat=", "-p", "\(process)"]).output
        return !state.isEmpty && !state.hasPrefix("Z")
    }

    @Test func `a validator that is killed is started again, and says so`() throws {
        let service = try serve(["--validate", Self.server])
        let events = try follow()
        _ = try verdict(events, after: "notChecked")
        kill(try #require(Self.children(of: service.id).keys.first), SIGKILL)
        #expect(try verdict(events, after: "portal")["validation"]?["verdict"]?.text == "notChecked")
        #expect(try verdict(events, after: "notChecked")["validation"]?["verdict"]?.text == "portal")
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        let words = "netwatch-validate has ended with status 137; it is started again"
        #expect(try service.errors.rest().hasPrefix("netwatch: \(words)"))
    }

    @Test func `without validation nothing is started, and no server is asked`() throws {
        let service = try serve([])
        let events = try follow()
        #expect(try events.object()["validation"] == nil)
        #expect(try Self.children(of: service.id).isEmpty)
        #expect(try !get("/metrics").contains("validation") && !get("/").contains("validat"))
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        #expect(connections.value == 0)
    }

    @Test func `the file of --validation names the servers, and one that need not exist may be missing`() throws {
        let file = try folder.write("validation.json", #"{"endpoints":["\#(Self.server)"]}"#)
        let service = try serve(["--validation", file])
        _ = try verdict(follow(), after: "notChecked")
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        let without = try serve(["--validation", "-/no/such/file"])
        #expect(try follow().object()["validation"] == nil)
        without.send(SIGTERM)
        #expect(try without.exitCode() == 0)
    }

    @Test(arguments: [
        (["--validate", "ftp://a"], "'ftp' is no scheme"), (["--validate", ""], "the scheme is missing"),
        (["--validate-metered"], "--validate-metered needs --validate"),
        (["--validate-cacert", "/x"], "--validate-cacert needs --validate"),
        (["--validate", "tcp://a:1", "--validation", "/x"], "exclude each other"),
        (["--validation", "/no/such/file"], "cannot read the validation's servers in '/no/such/file'"),
        (["--validate", "tcp://a:1", "--validate-cacert", "/no/such/file"], "does not take its arguments"),
    ])
    func `wrong options end the service with an error`(arguments: [String], words: String) throws {
        let service = try serve(arguments)
        #expect(try service.exitCode() == 64)
        let errors = try service.errors.rest()
        #expect(errors.contains(words), "\(errors)")
    }
}
