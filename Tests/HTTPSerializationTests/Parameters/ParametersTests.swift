import FoundationEssentials
import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of parameters from variables, literals and encodable values, as JSON, whose text shows types and digits.
struct ParametersTests {
    private struct Report: Encodable {
        var name = "kiosk"
        var count = 3
        var ratio = 0.5
        var tags = ["a", "b"]
        var note: String?
        var nested = ["open": true]
    }

    private enum Sort: String, Encodable { case ascending = "asc" }

    private func json(_ parameters: Parameters?, _ options: ParameterOptions = .init()) throws -> String? {
        let head = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/")
        let body = try JSONSerializer(options: options).serialize(.init(head: head), parameters: parameters).body
        return body.map { String(decoding: $0, as: UTF8.self) }
    }

    private func query(_ parameters: Parameters?, _ options: ParameterOptions = .init()) throws -> String? {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        let request = SerializedRequest(head: head)
        let path = try FormSerializer(options: options).serialize(request, parameters: parameters).head.path
        return path.map { Self.decoded(String($0.dropFirst(2))) }
    }

    /// Returns text without percent-encoding, which is tested on its own.
    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            bytes.append(byte == UInt8(ascii: "%") ? UInt8(Substring(rest.prefix(2)), radix: 16) ?? byte : byte)
            if byte == UInt8(ascii: "%") { rest = rest.dropFirst(2) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `values of variables are encoded by their types`() throws {
        let (page, name, tags, isOpen) = (2, "Ann", ["a", "b"], true)
        #expect(try json(["page": page]) == #"{"page":2}"#)
        #expect(try json(["q": name]) == #"{"q":"Ann"}"#)
        #expect(try json(["q": "\(name)!"]) == #"{"q":"Ann!"}"#)
        #expect(try json(["tags": tags]) == #"{"tags":["a","b"]}"#)
        let mixed: Parameters = [
            "page": page + 1, "q": name, "open": isOpen, "sort": Sort.ascending, "tags": Set(tags),
        ]
        #expect(try json(mixed) == #"{"open":true,"page":3,"q":"Ann","sort":"asc","tags":["a","b"]}"#)
        #expect(
            try json(["filter": ["open": isOpen, "by": name] as Parameters]) == #"{"filter":{"by":"Ann","open":true}}"#
        )
        #expect(try json(["filter": ["open": isOpen]]) == #"{"filter":{"open":true}}"#)
        #expect(
            try json(["a": ["b": 1, "c": [1, "x", .null, 2.5]] as JSONValue]) == #"{"a":{"b":1,"c":[1,"x",null,2.5]}}"#
        )
    }

    @Test func `dictionaries and encodable types are parameters themselves`() throws {
        let expected = #"{"count":3,"name":"kiosk","nested":{"open":true},"ratio":0.5,"tags":["a","b"]}"#
        #expect(try json(Parameters(Report())) == expected)
        #expect(try json(["report": Report()]) == #"{"report":\#(expected)}"#)
        let texts = ["b": "1", "a": "2"]
        #expect(try query(Parameters(texts)) == "a=2&b=1")
        #expect(try query(Parameters(["f": texts])) == "f[a]=2&f[b]=1")
        let values: [String: any Encodable] = ["page": 2, "q": "Ann"]
        #expect(try query(Parameters(values)) == "page=2&q=Ann")
    }

    @Test func `a nil value is omitted, and a null is sent`() throws {
        let (none, some) = (String?.none, String?.some("x"))
        #expect(try json(["a": none, "b": some, "c": nil, "d": JSONValue.null]) == #"{"b":"x","d":null}"#)
        #expect(try query(["a": none, "b": some, "c": nil, "d": JSONValue.null]) == "b=x&d")
        #expect(try json(Parameters(["a": none, "b": some])) == #"{"b":"x"}"#)
        #expect(try json(["a": [none, some]]) == #"{"a":[null,"x"]}"#)
        #expect(try json(Parameters(none)) == nil)
        #expect(try query(Parameters(Report?.none)) == "")
    }

    static let numbers: [(Parameters, String)] = [
        (["n": UInt64.max], "18446744073709551615"), (["n": Int64.min], "-9223372036854775808"),
        (["n": UInt128.max], "340282366920938463463374607431768211455"), (["n": Int8(-7)], "-7"),
        (["n": JSONValue(integerLiteral: 123_456_789_012_345_678_901_234_567_890)], "123456789012345678901234567890"),
        (
            ["n": JSONNumber("0.10000000000000000000000000000000000000000000001")],
            "0.10000000000000000000000000000000000000000000001"
        ),
        (["n": Decimal(string: "12345678901234567890.123456789")], "12345678901234567890.123456789"),
        (["n": Decimal(string: "-0.01")], "-0.01"), (["n": 0.1], "0.1"), (["n": Float(0.1)], "0.1"), (["n": 2.0], "2"),
        (["n": Float(3)], "3"), (["n": 1e20], "1e+20"), (["n": Double.leastNonzeroMagnitude], "5e-324"),
    ]

    @Test(arguments: numbers)
    func `numbers keep their digits in every format, and when they are read back`(
        parameters: Parameters,
        text: String
    ) throws {
        #expect(try query(parameters) == "n=\(text)")
        let body = try #require(try json(parameters))
        #expect(body == #"{"n":\#(text)}"#)
        let value = try JSONValue(parsing: body.utf8)
        #expect(value["n"]?.number?.description == text)
        #expect(try json(Parameters(value)) == body)
        #expect(try json(Parameters(value["n"])) == text)
    }

    @Test func `dates are ISO 8601 unless the options say otherwise`() throws {
        let parameters: Parameters = ["since": Date(timeIntervalSince1970: 1_795_383_490.25)]
        #expect(try query(parameters) == "since=2026-11-22T21:38:10Z")
        #expect(try json(parameters) == #"{"since":"2026-11-22T21:38:10Z"}"#)
        #expect(try query(parameters, .init(dates: .secondsSince1970)) == "since=1795383490.25")
        #expect(try json(parameters, .init(dates: .secondsSince1970)) == #"{"since":1795383490.25}"#)
        #expect(try json(parameters, .init(dates: .millisecondsSince1970)) == #"{"since":1795383490250}"#)
        let days = ParameterOptions(dates: .custom { "day \(Int($0.timeIntervalSince1970) / 86_400)" })
        #expect(try json(parameters, days) == #"{"since":"day 20779"}"#)
    }

    @Test func `Booleans are words in JSON, and 1 and 0 elsewhere by option`() throws {
        let parameters: Parameters = ["a": true, "b": [false]]
        let options = ParameterOptions(booleans: .numeric)
        #expect(try query(parameters) == "a=true&b[]=false")
        #expect(try query(parameters, options) == "a=1&b[]=0")
        #expect(try json(parameters, options) == #"{"a":true,"b":[false]}"#)
    }

    @Test func `the names of an array's elements are optional`() throws {
        let parameters: Parameters = ["a": [["b": [1, 2]], ["b": [3]]]]
        #expect(try query(parameters) == "a[][b][]=1&a[][b][]=2&a[][b][]=3")
        #expect(try query(parameters, .init(arrays: .noBrackets)) == "a[b]=1&a[b]=2&a[b]=3")
        #expect(try query(parameters, .init(arrays: .indexInBrackets)) == "a[0][b][0]=1&a[0][b][1]=2&a[1][b][0]=3")
    }

    @Test func `URLs are text, and data is Base64`() throws {
        let parameters: Parameters = ["u": URL(string: "https://example.com/?a=b"), "d": Data([0xFB, 0xFF])]
        #expect(try json(parameters) == #"{"d":"+/8=","u":"https://example.com/?a=b"}"#)
        #expect(try query(parameters) == "d=+/8=&u=https://example.com/?a=b")
    }

    @Test func `values can be read and set by key`() throws {
        var parameters: Parameters = ["a": 1]
        parameters["b"] = ["c": true]
        parameters["a"] = nil
        #expect(parameters["a"] == nil && parameters["b"] != nil)
        #expect(try json(parameters) == #"{"b":{"c":true}}"#)
        #expect(parameters == ["b": ["c": true]])
    }

    private struct Refusing: Encodable {
        struct Reason: Error, CustomStringConvertible { let description = "no ink" }

        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    private struct Empty: Encodable { func encode(to encoder: any Encoder) {} }

    static let invalid: [(Parameters, String)] = [
        (["a": 1, "ratio": Double.nan], "the parameter 'ratio' is not a finite number (nan)"),
        (["filter": ["ratio": [1, Double.infinity]]], "the parameter 'filter[ratio][1]' is not a finite number (inf)"),
        (["f": -Float.infinity], "the parameter 'f' is not a finite number (-inf)"),
        (["d": Decimal.nan], "the parameter 'd' is not a number (NaN)"),
        (["a": ["b": Refusing()]], "the parameter 'a[b]' can't be encoded: no ink"),
        (["a": ["b": Double.nan] as Parameters], "the parameter 'a[b]' is not a finite number (nan)"),
        (["a": Empty()], "the parameter 'a' can't be encoded: its type encodes nothing"),
        (["a": Date(timeIntervalSince1970: .infinity)], "the parameter 'a' is a date outside the years 0 to 9999"),
        (["a": Date(timeIntervalSince1970: 1e300)], "the parameter 'a' is a date outside the years 0 to 9999"),
        (Parameters(Double.nan), "the value of the parameters is not a finite number (nan)"),
    ]

    @Test(arguments: invalid)
    func `what can't be sent is rejected with its key`(parameters: Parameters, reason: String) {
        let errors = [
            #expect(throws: RequestSerializationError.self) { try json(parameters) },
            #expect(throws: RequestSerializationError.self) { try query(parameters) },
            #expect(throws: RequestSerializationError.self) { try parameters.multipartParts() },
        ]
        for error in errors { #expect(error?.description.hasPrefix(reason) == true, "\(String(describing: error))") }
    }

    @Test(arguments: [
        (Parameters([1, 2]), "an array"), (Parameters("x"), "a string"), (Parameters(7), "a number"),
        (Parameters(JSONValue.null), "null"), (Parameters(Set(["x"])), "a set"), (Parameters(true), "a Boolean"),
    ])
    func `queries and forms need names, JSON doesn't`(parameters: Parameters, kind: String) throws {
        for error in [
            #expect(throws: RequestSerializationError.self) { try query(parameters) },
            #expect(throws: RequestSerializationError.self) { try parameters.multipartParts() },
        ] {
            #expect(error?.description.hasPrefix("the parameters are \(kind): here they need names") == true)
        }
        #expect(try json(parameters) != nil)
    }

    private class Base: Encodable {
        var id = 1
    }

    private final class Derived: Base {
        private enum Key: String, CodingKey { case list, more, parent }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            var inner = list.nestedContainer(keyedBy: Key.self)
            var innermost = list.nestedUnkeyedContainer()
            try inner.encodeNil(forKey: .more)
            try innermost.encode("x")
            try innermost.encodeNil()
            #expect(list.count == 3 && innermost.count == 2)
            var again = encoder.container(keyedBy: Key.self)
            try again.encode(true, forKey: .more)
            try super.encode(to: container.superEncoder(forKey: .parent))
        }
    }

    @Test func `types that encode themselves may nest containers`() throws {
        #expect(
            try json(Parameters(Derived())) == #"{"list":[1,{"more":null},["x",null]],"more":true,"parent":{"id":1}}"#
        )
        #expect(try json(Parameters([1: "a", 2: "b"])) == #"{"1":"a","2":"b"}"#)
    }

    @Test func `other encoders can encode parameters`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let parameters: Parameters = ["a": UInt64.max, "b": [1, nil, 2.5], "c": Set([2, 1]), "d": true]
        let text = String(decoding: try encoder.encode(parameters), as: UTF8.self)
        #expect(text == #"{"a":18446744073709551615,"b":[1,null,2.5],"c":[1,2],"d":true}"#)
        #expect(throws: RequestSerializationError.self) { try encoder.encode(["a": Double.nan] as Parameters) }
    }

    @Test func `the later value of a duplicate key is used`() {
        #expect(["a": 1, "a": 2] as Parameters == ["a": 2])
    }

    @Test func `parameters become parts of a form, in the order of a query`() throws {
        let parameters: Parameters = [
            "user": "Ann", "on": true, "filter": ["b": [1, 2]], "none": JSONValue.null, "raw": Data([0xFF, 0]),
            "t": Date(timeIntervalSince1970: 0), "empty": [Int](),
        ]
        let form = MultipartForm(try parameters.multipartParts(.init(booleans: .numeric)))
        var text: [UInt8] = []
        for case .bytes(let bytes) in try form.encoded(boundary: "B").pieces { text += bytes }
        func part(_ name: String, _ value: [UInt8]) -> [UInt8] {
            Array("--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + value + [13, 10]
        }
        let expected =
            part("filter[b][]", Array("1".utf8)) + part("filter[b][]", Array("2".utf8)) + part("none", [])
            + part("on", Array("1".utf8)) + part("raw", [0xFF, 0]) + part("t", Array("1970-01-01T00:00:00Z".utf8))
            + part("user", Array("Ann".utf8)) + Array("--B--\r\n".utf8)
        #expect(text == expected)
    }
}
