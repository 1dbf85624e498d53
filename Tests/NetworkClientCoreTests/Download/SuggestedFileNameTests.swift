import Testing

@testable import NetworkClientCore

/// File names that servers suggest (RFC 6266), after the cases of Julian Reschke's collection (greenbytes.de/tech/tc2231).
struct SuggestedFileNameTests {
    private static let fields: [(String, String?)] = [
        ("attachment", nil),
        ("", nil),
        (#"attachment; filename="foo.html""#, "foo.html"),
        ("attachment; filename=foo.html", "foo.html"),
        ("ATTACHMENT; FILENAME = foo.html ;", "foo.html"),
        (#"attachment;filename="f\oo.html""#, "foo.html"),
        (#"attachment; filename="\"quoting\" tested.html""#, #""quoting" tested.html"#),
        (#"attachment; filename="semicolon;in it.html"; size=3"#, "semicolon;in it.html"),
        ("attachment; filename=not quoted.html", "not quoted.html"),
        (#"attachment; filename="without end"#, "without end"),
        (#"attachment; filename="a\"#, #"a\"#),
        (#"inline; size=1; filename="later.txt""#, "later.txt"),
        ("filename=only.txt", "only.txt"),
        (#"attachment; filename="first.txt"; filename="second.txt""#, "first.txt"),
        (#"attachment; filename="50%25.txt""#, "50%25.txt"),
        ("attachment; filename=\"naïve.txt\"", "naïve.txt"),
        ("attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html", "foo-ä-€.html"),
        ("attachment; filename*=utf-8'en'a.txt", "a.txt"),
        ("attachment; filename*=iso-8859-1''foo-%E4.html", "foo-ä.html"),
        ("attachment; filename*=UTF-8''good.txt; filename=plain.txt", "good.txt"),
        ("attachment; filename=plain.txt; filename*=UTF-8''good.txt", "good.txt"),
        ("attachment; filename=plain.txt; filename*=UTF-8''%ff%fe", "plain.txt"),
        ("attachment; filename=plain.txt; filename*=UTF-8''a b", "plain.txt"),
        ("attachment; filename=plain.txt; filename*=UTF-8''a%2", "plain.txt"),
        ("attachment; filename=plain.txt; filename*=UTF-8'a", "plain.txt"),
        ("attachment; filename=plain.txt; filename*=shift_jis''%83", "plain.txt"),
        (#"attachment; filename=plain.txt; filename*="UTF-8''quoted.txt""#, "plain.txt"),
        ("attachment; filename*0=foo; filename*1=.html", nil),
        (#"attachment; filename="""#, ""),
        (";;; ; =x; filename", nil),
    ]

    @Test(arguments: fields)
    func `the name of a Content-Disposition is read`(field: String, name: String?) {
        #expect(ContentDisposition(field).fileName == name)
    }

    private static let names: [(String, String?)] = [
        ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), (#"..\..\windows\system.ini"#, "system.ini"),
        ("/etc/", "etc"), ("..", nil), (".", nil), ("", nil), ("/", nil), (" ", nil), ("a/..", nil),
        (".bashrc", "bashrc"), (" . .profile", "profile"), ("a\0b\n\u{7F}\u{85}c", "abc"), ("a\r\nb", "ab"),
        ("cod\u{202E}txt.exe", "codtxt.exe"), ("\u{200F}x\u{2066}", "x"), (" a b ", "a b"),
        ("NUL", "_NUL"), ("con.txt", "_con.txt"), ("Com1.tar.gz", "_Com1.tar.gz"), ("LPT9", "_LPT9"),
        ("console.txt", "console.txt"), ("com10", "com10"), ("~", "~"), ("日本語.pdf", "日本語.pdf"),
        ("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
    ]

    @Test(arguments: names)
    func `a name is made safe`(name: String, safe: String?) {
        #expect(SuggestedFileName.safe(name) == safe)
    }

    @Test func `a name that is too long loses characters, not its extension`() throws {
        let long = try #require(SuggestedFileName.safe(String(repeating: "ä", count: 500) + ".tar"))
        #expect(long == String(repeating: "ä", count: 125) + ".tar")
        let dots = try #require(SuggestedFileName.safe("a." + String(repeating: "b", count: 500)))
        #expect(dots.utf8.count == 255)
        #expect(SuggestedFileName.safe("e" + String(repeating: "\u{301}", count: 200)) == nil)
        #expect(SuggestedFileName.safe(String(repeating: "x", count: 255))?.utf8.count == 255)
    }

    @Test(arguments: [
        ([], "/a/b.txt", "b.txt"), ([], "/a/", "download"), ([], "/", "download"), ([], "", "download"),
        ([], "/a%20b%2Ftxt", "txt"), ([], "/%ff", "download"), ([], "/..%2f..", "download"),
        ([], "/%2e%2e", "download"),
        (["attachment; filename=c"], "/a/b", "c"), (["attachment; filename=.."], "/a/b", "b"),
        (["inline", "attachment; filename=d"], "/a/b", "d"),
    ])
    func `a name comes from the first usable field, the URL or neither`(
        fields: [String],
        path: String,
        name: String
    ) {
        #expect(SuggestedFileName.name(fields: fields, path: path) == name)
    }
}
