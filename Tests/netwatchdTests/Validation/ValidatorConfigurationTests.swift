import Testing

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
        #expect(
            try configuration(text).arguments == [
                "--validate", "http://status.example.com/204", "--validate", "tls://api.example.com#pin=sha256/x",
                "--validate-metered", "--validate-cacert", "/etc/netwatch/roots.pem",
            ]
        )
        #expect(try configuration(#"{"endpoints":["tcp://a:1"]}"#).arguments == ["--validate", "tcp://a:1"])
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
}
