import ReachabilityCore
import Testing

@testable import Reachability
@testable import netwatchd

@Suite struct ValidatorConfigurationTests {
    private func configuration(_ text: String) throws -> ValidatorConfiguration {
        try ValidatorConfiguration(parsing: Array(text.utf8))
    }

    @Test func `the file names the servers, and whether metered paths are probed`() throws {
        let text = """
            {"endpoints": ["http://status.example.com/204", "tls://api.example.com#pin=sha256/x"], "metered": true,
             "roots": "/etc/netwatch/roots.pem"}
            """
        let servers = ["http://status.example.com/204", "tls://api.example.com#pin=sha256/x"]
        let expected = ValidatorConfiguration(
            endpoints: servers,
            probesMeteredPaths: true,
            roots: "/etc/netwatch/roots.pem"
        )
        #expect(try configuration(text) == expected)
        #expect(try configuration(#"{"endpoints":["tcp://a:1"]}"#) == ValidatorConfiguration(endpoints: ["tcp://a:1"]))
    }

    @Test(arguments: [
        ("", "line 1"), ("[]", "it is no object; write {\"endpoints\""), ("{}", "endpoints: write a list"),
        (#"{"endpoints":[]}"#, "endpoints: write a list"), (#"{"endpoints":"http://a/"}"#, "endpoints: write a list"),
        (#"{"endpoints":[7]}"#, "endpoints[0]: it is no string"),
        (#"{"endpoints":["http://a/","ftp://a/"]}"#, "endpoints[1]: 'ftp' is no scheme"),
        (#"{"endpoints":["http://user@a/"]}"#, "endpoints[0]: it is no usable URL"),
        (#"{"endpoints":["http://a/"],"metered":1}"#, "metered: write true or false"),
        (#"{"endpoints":["http://a/"],"roots":"roots.pem"}"#, "roots: write an absolute path"),
        (
            #"{"endpoints":["http://a/"],"timeout":5}"#,
            "timeout: there is no such member; the members are endpoints, metered"
        ),
    ])
    func `errors name the member and what to write`(text: String, words: String) {
        #expect { try configuration(text) } throws: { "\($0)".contains(words) }
    }

    @Test func `the validator has the same idea of the path as the monitor`() throws {
        var monitor = MonitorConfiguration()
        #expect(
            ValidatorConfiguration(endpoints: ["tcp://a:1"]).arguments(for: monitor) == ["--validate", "tcp://a:1"]
        )
        monitor.namespace = .name("blue")
        monitor.kindRules = [.init(pattern: "wwan*", kind: .cellular)]
        (monitor.expensiveInterfaces, monitor.constrainedInterfaces) = (["enx*"], ["eth1"])
        let all = ValidatorConfiguration(endpoints: ["tcp://a:1", "tls://b"], probesMeteredPaths: true, roots: "/r")
        #expect(
            all.arguments(for: monitor) == [
                "--validate", "tcp://a:1", "--validate", "tls://b", "--validate-metered", "--validate-cacert", "/r",
                "--netns",
                "/run/netns/blue", "--kind", "wwan*=cellular", "--expensive", "enx*", "--constrained", "eth1",
            ]
        )
    }
}
