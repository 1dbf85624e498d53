import CommandLineSupport
import NetworkClient
import Testing

@testable import netwatch_fetch

@Suite struct FetchArgumentTests {
    @Test(arguments: ["GET", "PROPFIND", "get", "M-SEARCH"])
    func `a method`(text: String) throws {
        #expect(try MethodArgument.parse(text).rawValue == text)
    }

    @Test(arguments: [
        ("", "is no method"), ("GE T", "is no method"), ("GET\r\n", "is no method"), ("CONNECT", "tunnels"),
    ])
    func `a wrong method`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try MethodArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [
        ("Accept: text/plain", "Accept", "text/plain"), ("X-A:b:c", "X-A", "b:c"), ("X-Empty:", "X-Empty", ""),
        ("X-Name: ü", "X-Name", "ü"),
    ])
    func `a field`(text: String, name: String, value: String) throws {
        let field = try FieldArgument.parse(text)
        #expect(field.name.rawName == name)
        #expect(field.value == value)
    }

    @Test(arguments: [
        ("", "':' is missing"), ("Accept", "':' is missing"), (": x", "no field's name"), ("A b: x", "no field's name"),
        ("A: b\r\nC: d", "a line's end"), ("A: \u{0}", "control character"),
        ("Content-Length: 3", "follows from the body"),
        ("transfer-encoding: chunked", "follows from the body"),
    ])
    func `a wrong field`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try FieldArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [
        ("0", 0), ("1000", 1000), ("2K", 2048), ("64M", 64 << 20), ("1G", 1 << 30), ("3k", 3072), ("5G", 5 << 30),
        ("2T", 2 << 40),
    ])
    func `a size`(text: String, size: Int) throws {
        #expect(try SizeArgument.parse(text) == size)
    }

    @Test(arguments: [
        ("", "begin with a number"), ("M", "begin with a number"), ("-1", "is not a unit"),
        ("1.5M", "'.5M' is not a unit"),
        ("99999999999T", "too large"), ("99999999999999999999", "too large"), ("1P", "'P' is not a unit"),
        ("1 M", "is not a unit"),
    ])
    func `a wrong size`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try SizeArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [
        ("a=b", BodySource.text("a=b")), ("", .text("")), ("-", .standardInput), ("@-", .standardInput),
        ("@x", .file("x")), ("-x", .text("-x")),
    ])
    func `sources of a body`(text: String, source: BodySource) throws {
        #expect(try BodyArgument.parse(text) == source)
    }

    @Test func `a body from nowhere`() throws {
        #expect(throws: ArgumentError.self) { try BodyArgument.parse("@") }
    }

    @Test func `a pin`() throws {
        let text = "sha256/" + String(repeating: "A", count: 43) + "="
        let pin = try Pin(text)
        #expect(try PinArgument.parse(text) == .pin(pin))
        #expect(try PinArgument.parse(text.replacing("sha256/", with: "sha256//")) == .pin(pin))
        #expect(try PinArgument.parse("server.pem") == .file("server.pem"))
    }

    @Test(arguments: [("", "is empty"), ("sha256//AAAA", "32 bytes"), ("sha256//", "32 bytes")])
    func `a wrong pin`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try PinArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [
        ("wwan0", LocalBinding.interface("wwan0")), ("192.0.2.2", .address("192.0.2.2")),
        ("2001:DB8::1", .address("2001:db8::1")), ("a=b", .interface("a=b")),
    ])
    func `values of --interface`(text: String, binding: LocalBinding) throws {
        #expect(try BindingArgument.parse(text) == binding)
    }

    @Test(arguments: ["", "an interface", "192.0.2.2:80", "abcdefghijklmnop", "a/b"])
    func `invalid values of --interface`(text: String) throws {
        let error = try #require(throws: ArgumentError.self) { try BindingArgument.parse(text) }
        #expect(error.description.contains("write wwan0 or 192.0.2.2"))
    }

    @Test func `two hosts are a usage error`() throws {
        let run = try FetchLab().fetch("-H", "Host: a", "-H", "host: b", "http://127.0.0.1:1/")
        #expect(run.code == 64)
        #expect(run.errors.contains("There are two -H Host; give one"))
    }
}
