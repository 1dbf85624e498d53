import ArgumentParser
import CommandLineSupport
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct EndpointArgumentTests {
    @Test(arguments: [
        ("http://a.example/204", ValidationEndpoint.http("http://a.example/204")),
        ("HTTPS://a.example", .http("HTTPS://a.example")),
        ("http://a.example/x#status=503", .http("http://a.example/x", expecting: .status(503))),
        ("http://a.example/x#body=a b=c#d", .http("http://a.example/x", expecting: .body("a b=c#d"))),
        ("tls://a.example", .tls("a.example")), ("tls://[2001:db8::7]:8443/", .tls("2001:db8::7", port: 8443)),
        ("tls://a.example#pin=sha256/x=,sha256/y=", .tls("a.example", pins: ["sha256/x=", "sha256/y="])),
        ("tcp://192.0.2.7:80", .tcp("192.0.2.7", port: 80)), ("dns:a.example", .dns("a.example")),
        ("dns:///a.example", .dns("a.example")),
        ("dns://192.0.2.53/a.example", .dns("a.example", server: IPAddress("192.0.2.53"))),
        (
            "dns://[2001:db8::53]/no.example#nxdomain",
            .dns("no.example", server: IPAddress("2001:db8::53"), expecting: .nameError)
        ),
        (
            "dns:a.example#address=192.0.2.7,192.0.2.8",
            .dns("a.example", expecting: .addresses([.init(ipv4: 0xC000_0207), .init(ipv4: 0xC000_0208)]))
        ),
    ])
    func `a server is read, with what is expected of it`(text: String, endpoint: ValidationEndpoint?) throws {
        #expect(try EndpointArgument.parse(text) == endpoint)
    }

    @Test(arguments: [
        ("", "the scheme is missing"), ("a.example", "the scheme is missing"), ("ftp://a", "'ftp' is no scheme for it"),
        ("\u{1B}:x", #"'\u{1b}' is no scheme"#), ("http:///x", "it is no usable URL"),
        ("http://u:p@a.example/", "it is no usable URL"), ("http://a.example/\u{1}", "it is no usable URL"),
        ("http://a#", "nothing follows the '#'"), ("http://a#pin=x", "'pin' can't be expected of this server"),
        ("http://a#status=7", "the status is none"), ("http://a#body=", "the value of 'body' is missing"),
        ("tls:a", "'//' is missing"), ("tls://", "the host is missing"), ("tls://a b", "the host is missing"),
        ("tls://[::g]", "the host is missing"), ("tls://a:0", "the port is none"), ("tls://a:x", "the port is none"),
        ("tls://a#status=204", "'status' can't be expected"), ("tcp://a", "the port is missing"),
        ("tcp://a:1#x", "'x' can't be expected"), ("dns://a.example/x", "is no address of a name server"),
        ("dns://192.0.2.53", "the name to ask for is missing"), ("dns:", "the name to ask for is missing"),
        ("dns:a#address=x", "an address is none of IPv4"), ("dns:a#body=x", "'body' can't be expected"),
        ("http://" + String(repeating: "a", count: 3_000), "longer than 2048 bytes"),
    ])
    func `a text that names no server is refused, with what to write instead`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try EndpointArgument.parse(text) }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func `the options that choose a path are passed on as they were written`() throws {
        let words = [
            "--netns", "blue", "--settle", "1.250000s", "--kind", "a=b=wifi", "--expensive", "-x*", "--constrained",
            "y",
        ]
        #expect(try CommonOptions.parse(words).arguments == words)
        #expect(try CommonOptions.parse([]).arguments.isEmpty)
        #expect(try CommonOptions.parse(["--netns", "1234", "--settle", "20ms"]).arguments[3] == "0.020000s")
        let servers = ["--validate", "http://a/#body=x", "--validate", "dns:b", "--validate-metered"]
        let options = try ValidationOptions.parse(servers)
        #expect(options.processArguments(try .parse(["--netns", "/x"])) == servers + ["--netns", "/x"])
        #expect(try ValidationOptions.parse([]).processArguments(.parse([])) == nil)
    }
}
