import CommandLineSupport
import Reachability
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct ArgumentTests {
    @Test(arguments: [
        ("wwan*=cellular", "wwan*", InterfaceKind.cellular), ("a=b=wifi", "a=b", .wifi), ("eth?=other", "eth?", .other),
    ])
    func `a kind rule is parsed`(text: String, pattern: String, kind: InterfaceKind) throws {
        #expect(try KindRuleArgument.parse(text) == KindRule(pattern: pattern, kind: kind))
    }

    @Test(arguments: [
        ("wwan0", "'=' is missing"), ("", "'=' is missing"), ("=wifi", "pattern before '=' is empty"),
        ("wwan0=", "'' is not a kind"), ("wwan0=lte", "'lte' is not a kind"),
        ("wwan0=Cellular", "wifi, cellular, wired"),
    ])
    func `an invalid kind rule is refused`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try KindRuleArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: ["wwan0", "enx*", "e?h0"])
    func `a name pattern is parsed`(text: String) throws {
        #expect(try PatternArgument.parse(text) == text)
    }

    @Test(arguments: [("", "is empty"), ("wwan*=true", "write the pattern alone")])
    func `an invalid name pattern is refused`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try PatternArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [
        ("blue", NetworkNamespace.name("blue")), ("1234", .process(1234)), ("/run/netns/1", .path("/run/netns/1")),
        ("./ns", .path("./ns")), ("12a", .name("12a")),
    ])
    func `a namespace is parsed`(text: String, namespace: NetworkNamespace) throws {
        #expect(try NamespaceArgument.parse(text) == namespace)
    }

    @Test(arguments: ["", ".", ".."])
    func `an invalid namespace is refused`(text: String) throws {
        let error = try #require(throws: ArgumentError.self) { try NamespaceArgument.parse(text) }
        #expect(error.description.contains("/proc/1234/ns/net"))
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("2001:db8::7", "2001:db8::7"), ("[2001:db8::7]", "2001:db8::7"),
        ("::ffff:192.0.2.7", "192.0.2.7"), ("[::ffff:192.0.2.7]", "192.0.2.7"),
    ])
    func `an address is parsed`(text: String, address: String) throws {
        #expect(try HostArgument.parse(text) == .address(#require(IPAddress(address))))
    }

    @Test(arguments: ["server.example", "localhost", "1.2.3", "bücher.example"])
    func `a host name is parsed`(text: String) throws {
        #expect(try HostArgument.parse(text) == .name(text))
    }

    @Test(arguments: [
        ("", "write 192.0.2.7"), ("http://x.example/", "leave out scheme"), ("x.example:443", "leave out scheme"),
        ("fe80::1%eth0", "leave out the zone"), ("a b", "neither an address nor a name"), ("-x", "write 192.0.2.7"),
        (String(repeating: "a", count: 254), "write 192.0.2.7"), ("a\u{7}b", "write 192.0.2.7"),
    ])
    func `an invalid host is refused`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try HostArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test func `a number of retries is parsed`() throws {
        #expect(try RetriesArgument.parse("0") == 0)
        #expect(try RetriesArgument.parse("12") == 12)
        for text in ["", "-1", "1.5", "many", "+1", "18446744073709551616"] {
            #expect(throws: ArgumentError.self) { try RetriesArgument.parse(text) }
        }
    }
}
