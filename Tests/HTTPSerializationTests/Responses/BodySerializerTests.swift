import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of body decoding: decodable values, property lists, text in any character set, and compound serializers.
struct BodySerializerTests {
    private func response(_ type: String?) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = type
        return response
    }

    private struct User: Codable, Equatable, Sendable {
        var name: String
        var age: Int
    }

    @Test func `a decodable value is read from JSON`() throws {
        let body = Array(#"{"name":"Ada","age":36}"#.utf8)
        let serializer = DecodableResponseSerializer(User.self)
        #expect(try serializer.serialize(response("application/json"), body: body) == User(name: "Ada", age: 36))
        #expect(throws: ResponseSerializationError.self) {
            try serializer.serialize(response("application/json"), body: Array("{}".utf8))
        }
    }

    @Test func `a decodable value is read from a property list`() throws {
        let body = Array(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>name</key><string>Ada</string>\
            <key>age</key><integer>36</integer></dict></plist>
            """.utf8
        )
        let serializer = PropertyListResponseSerializer(User.self)
        #expect(try serializer.serialize(response("application/x-plist"), body: body) == User(name: "Ada", age: 36))
    }

    @Test(
        arguments: [
            ("text/plain", [0xC3, 0xBC], "ü"), (nil, [0x61], "a"),
            ("text/plain; charset=utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("text/plain; charset=ISO-8859-1", [0xFC], "ü"), (#"text/plain; charset="iso-8859-15""#, [0xA4], "€"),
            ("text/plain;charset=windows-1252", [0x80], "€"), ("text/plain; charset=Shift_JIS", [0x83, 0x65], "テ"),
            ("text/plain; charset=utf-16", [0xFF, 0xFE, 0x61, 0], "a"),
            ("text/plain; charset=utf-16be", [0, 0x61], "a"),
            ("text/plain; charset=koi8-r", [0xC1], "а"), ("text/plain; charset=gb18030", [0xB0, 0xA1], "啊"),
            ("text/plain; charset=iso-2022-jp", [0x1B, 0x24, 0x42, 0x25, 0x46, 0x1B, 0x28, 0x42], "テ"),
            ("text/plain; charset=us-ascii", [], ""), ("text/plain; charset=\"\"", [0xC3, 0xBC], "ü"),
            // Twelve bytes of UTF-8 for each.
            ("text/plain; charset=tscii", [0x82, 0x82, 0x82], "ஸ்ரீஸ்ரீஸ்ரீ"),
        ] as [(String?, [UInt8], String)]
    )
    func `text is decoded in the character set of its content type`(
        type: String?,
        body: [UInt8],
        expected: String
    ) throws {
        #expect(try StringResponseSerializer().serialize(response(type), body: body) == expected)
    }

    @Test(
        arguments: [
            ("text/plain", [0x61, 0xFF], "byte 1 is not valid"), ("text/plain; charset=us-ascii", [0xFC], "byte 0"),
            ("text/plain; charset=klingon", [0x61], "'klingon' is unknown"),
            ("text/plain; charset=utf-8//ignore", [0x61, 0xFF], "is unknown"),
            ("text/plain; charset=utf-8/\u{301}", [0x61], "is unknown"),
            ("text/plain; charset=utf-16be", [0x61], "byte 0"),
            // Above U+10FFFF there are no characters, though the C library converts them.
            ("text/plain", [0x61, 0xF6, 0x8C, 0x9A, 0x87], "byte 1"),
            ("text/plain; charset=ucs-4", [0, 0, 0, 0x61, 0x01, 0, 0, 0], "byte 4"),
            ("text/plain; charset=ucs-4", [0, 0, 0, 0xFC, 0, 0, 0xD8, 0], "byte 4"),
        ] as [(String, [UInt8], String)]
    )
    func `invalid text is rejected with its position`(type: String, body: [UInt8], words: String) {
        let error = #expect(throws: ResponseSerializationError.self) {
            try StringResponseSerializer().serialize(response(type), body: body)
        }
        #expect(error?.code == .undecodable)
        #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
    }

    @Test func `a compound serializer returns the first success, or the bytes`() throws {
        let serializer = CompoundResponseSerializer<String>([
            StringResponseSerializer(expectation: .init(mediaTypes: ["text/*"])),
            StringResponseSerializer(expectation: .init(mediaTypes: ["application/xml", "*/*+xml"])),
        ])
        guard case .value("a") = try serializer.serialize(response("text/html"), body: [0x61]),
            case .value("b") = try serializer.serialize(response("image/svg+xml"), body: [0x62]),
            case .bytes([1]) = try serializer.serialize(response("image/png"), body: [1])
        else {
            Issue.record("another choice")
            return
        }
    }

    private enum Reply: Sendable, Equatable {
        case user(User)
        case problem([String: String])
        case text(String)
    }

    @Test func `a compound serializer returns values of several types`() throws {
        let problems = ResponseExpectation(statuses: [404], mediaTypes: ["application/problem+json"])
        let serializer = CompoundResponseSerializer<Reply>([
            DecodableResponseSerializer(User.self).map(Reply.user),
            DecodableResponseSerializer([String: String].self, expectation: problems).map(Reply.problem),
            StringResponseSerializer(expectation: .init(mediaTypes: ["text/plain"])).map(Reply.text),
        ])
        func reply(_ status: Int, _ type: String, _ text: String) throws -> Reply? {
            var response = response(type)
            response.status = .init(code: status)
            guard case .value(let reply) = try serializer.serialize(response, body: Array(text.utf8)) else {
                return nil
            }
            return reply
        }
        #expect(try reply(200, "application/json", #"{"name":"Ada","age":36}"#) == .user(.init(name: "Ada", age: 36)))
        #expect(try reply(404, "application/problem+json", #"{"title":"gone"}"#) == .problem(["title": "gone"]))
        #expect(try reply(200, "text/plain", "hello") == .text("hello"))
        #expect(try reply(200, "image/png", "x") == nil)
        #expect(throws: ResponseSerializationError.self) { try reply(500, "text/plain", "x") }
    }

    @Test func `the error of a conversion rejects the response`() throws {
        struct Refusal: Error {}
        let serializer = StringResponseSerializer().map { _ -> Int in throw Refusal() }
        let error = #expect(throws: ResponseSerializationError.self) {
            try serializer.serialize(response("text/plain"), body: [0x61])
        }
        #expect(error?.code == .undecodable && error?.underlying is Refusal)
    }

    @Test func `an empty response ignores JSON, and is decoded from no body`() throws {
        let serializer = DecodableResponseSerializer(EmptyResponse.self)
        #expect(try serializer.serialize(.init(status: .resetContent), body: []) == EmptyResponse())
        #expect(try serializer.serialize(response("application/json"), body: Array("[1]".utf8)) == EmptyResponse())
        let plist = PropertyListResponseSerializer(EmptyResponse.self)
        #expect(try plist.serialize(.init(status: .noContent), body: []) == EmptyResponse())
    }

    @Test(arguments: [
        ("text/html", "text/html", true), ("text/html", "text/*", true), ("text/html", "*/*", true),
        ("application/problem+json", "*/*+json", true), ("application/json", "*/*+json", false),
        ("application/problem+json", "application/*+json", true), ("text/x+json", "application/*+json", false),
        ("textual/html", "text/*", false),
    ])
    func `media types match patterns`(type: String, pattern: String, matches: Bool) throws {
        #expect(try #require(MediaType(type)).matches(pattern) == matches)
    }

    @Test func `a media type is parsed with its parameters`() throws {
        let type = try #require(MediaType(#" Text/HTML ; Charset="a;b\"c" ;x; charset=later; level=1"#))
        #expect(type.essence == "text/html")
        #expect(type.parameters["charset"] == #"a;b"c"#)
        #expect(type.parameters["level"] == "1")
        for wrong in ["", "text", "text/", "/html", "a b/c", "a/b/c", ";charset=x"] { #expect(MediaType(wrong) == nil) }
    }

    @Test(arguments: [
        ("text/html;; charset=iso-8859-1", "iso-8859-1"), ("text/html; nothing; charset=iso-8859-1 ;", "iso-8859-1"),
        // A quote with an accent is a quote.
        ("text/html;charset=\"\u{301}\";charset=utf-8", "\u{301}"),
    ])
    func `a parameter without a value doesn't hide those that follow`(field: String, characterSet: String) throws {
        #expect(try #require(MediaType(field)).parameters == ["charset": characterSet])
    }

    @Test func `an empty body is nil for an optional type and an error otherwise`() throws {
        let response = HTTPResponse(status: .noContent)
        #expect(try PropertyListResponseSerializer(User?.self).serialize(response, body: []) == nil)
        #expect(try DecodableResponseSerializer(User?.self).serialize(response, body: []) == nil)
        #expect(try DecodableResponseSerializer(JSONValue.self).serialize(response, body: []) == .null)
        #expect(throws: ResponseSerializationError.self) {
            try PropertyListResponseSerializer(User.self).serialize(response, body: [])
        }
        #expect(throws: ResponseSerializationError.self) {
            try DecodableResponseSerializer(User.self).serialize(response, body: [])
        }
    }
}
