import FoundationEssentials
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("References to URLs")
struct URLResolvingTests {
    /// RFC 3986, 5.4.1 and 5.4.2, with an http base.
    static let examples: [(String, String)] = [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"),
        ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
        ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
        ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
        (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
        ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
        ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/./x", "/b/c/g"),
        ("g//h", "/b/c/g//h"), ("a b?c d", "/b/c/a%20b?c%20d"), ("g?a:b", "/b/c/g?a:b"), ("/a:b", "/a:b"),
    ]

    @Test("The examples of RFC 3986", arguments: examples)
    func book(reference: String, target: String) throws {
        let base = try HTTPURL("http://user@example.com:81/b/c/d;p?q")
        let url = try base.resolving(reference)
        #expect(url.target == target)
        #expect(url.authority == "example.com:81")
        #expect(url.user == "user")
        #expect(try url.resolving("x").target == base.resolvingByTheBook(reference).resolvingByTheBook("x").target)
    }

    @Test("A reference with a host or a scheme leaves the base behind")
    func others() throws {
        let base = try HTTPURL("https://user@example.com:81/b/c")
        let host = try base.resolving("//other.example/x")
        #expect(host.description == "https://other.example/x")
        #expect(!host.hasCredentials)
        #expect(host.port == 443)
        #expect(try base.resolving("http://other.example").description == "http://other.example/")
        for reference in ["http:g", "https:/g", "ftp://x/", "a:b", "//", "%", "a\nb", "//h:x/"] {
            #expect(throws: HTTPError.self, "\(reference)") { try base.resolving(reference) }
        }
    }

    @Test(
        "A base URL with a path gains a slash, so that references come below it",
        arguments: [
            ("http://h", "foo", "/foo"), ("http://h/", "foo", "/foo"), ("http://h/v1", "foo", "/v1/foo"),
            ("http://h/v1/", "foo", "/v1/foo"), ("http://h/v1", "/foo", "/foo"), ("http://h/v1/", "foo/", "/v1/foo/"),
            ("http://h/v1", "", "/v1/"), ("http://h/v1?k=v", "", "/v1/?k=v"), ("http://h/v1?k=v", "foo", "/v1/foo"),
            ("http://h/a/v1", "../foo", "/a/foo"), ("http://h/v1", "foo?a=b", "/v1/foo?a=b"),
        ]
    )
    func bases(base: String, reference: String, target: String) throws {
        #expect(try HTTPURL(base).asBase.resolving(reference).target == target)
    }

    @Test("The ordinary case joins, and all others do not")
    func ordinary() throws {
        let base = try HTTPURL("http://h/v1/x?y")
        for reference in ["a", "/a", "/", "a/b", "a?b=/..?", "users/7?fields=name,tags", "a..b", "a/b.c"] {
            #expect(base.joined(reference) != nil, "\(reference)")
        }
        for reference in ["", "?a", "//h", ".", "a/../b", ".a", "a:b", "a%20b", "a b", "a#b", "ü", "a[b]"] {
            #expect(base.joined(reference) == nil, "\(reference)")
        }
    }

    /// The components of references in the randomized test.
    private static let parts = [
        "a", "b.c", "..", ".", "/", "/", "//", "?", "=", "&", ";", "@", ",", "~", "-", "_", "0", "foo", "%41", "é", " ",
        "...", ".x", "a", "!", "*", "(", ")", "+", "$", "'",
    ]

    /// Foundation rejects empty references, and omits the slash of a URL without a path.
    @Test("Both ways come to the same, and to what Foundation says")
    func chance() throws {
        var random = LabRandom(seed: 0x5EED)
        let bases = ["http://h/", "http://h/a", "http://h/a/", "http://h/a/b?c/d", "https://h:81/a//b/?x"]
        for _ in 0..<20_000 {
            let text = bases[Int(random.next() % UInt64(bases.count))]
            let base = try HTTPURL(text)
            let count = Int(random.next() % 7)
            let reference = (0..<count).map { _ in Self.parts[Int(random.next() % UInt64(Self.parts.count))] }.joined()
            guard !reference.isEmpty, !reference.hasPrefix("//") else { continue }
            let resolved = try base.resolving(reference)
            #expect(try resolved == base.resolvingByTheBook(reference), "\(reference) at \(text)")
            // If anything must be encoded, Foundation also encodes the percent signs of existing escapes.
            guard !reference.contains("%") || !reference.contains(where: { "é ".contains($0) }) else { continue }
            let foundation = URL(string: reference, relativeTo: URL(string: text))?.absoluteString
            let expected = "\(resolved.scheme)://\(resolved.authority)\(resolved.target)"
            #expect(foundation == expected, "'\(reference)' at \(text)")
        }
    }
}

/// A generator of the same numbers in each run: SplitMix64.
private struct LabRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
