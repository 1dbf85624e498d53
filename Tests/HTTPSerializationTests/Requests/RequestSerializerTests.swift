import FoundationEssentials
import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of the placement of parameters and of the resulting head.
struct RequestSerializerTests {
    private func request(_ method: HTTPRequest.Method, _ path: String = "/items") -> SerializedRequest {
        .init(head: .init(method: method, scheme: "https", authority: "example.com", path: path))
    }

    private func text(_ request: SerializedRequest) -> String? {
        request.body.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete])
    func `some methods have parameters in the target with every serializer`(method: HTTPRequest.Method) throws {
        let serializers: [any RequestSerializer] = [FormSerializer(), JSONSerializer(), PropertyListSerializer()]
        for serializer in serializers {
            let result = try serializer.serialize(request(method), parameters: ["a": ["b": 1]])
            #expect(result.head.path == "/items?a%5Bb%5D=1")
            #expect(result.body == nil)
            #expect(result.head.headerFields[.contentType] == nil)
        }
    }

    @Test(arguments: [
        ("/items", "/items?a=1"), ("/items?x=2", "/items?x=2&a=1"), ("/items?", "/items?a=1"),
        ("/items?x=2&", "/items?x=2&a=1"), ("/items#f", "/items?a=1#f"), ("/items?x#f", "/items?x&a=1#f"),
    ])
    func `a query is appended to an existing one`(path: String, expected: String) throws {
        #expect(try FormSerializer().serialize(request(.get, path), parameters: ["a": 1]).head.path == expected)
    }

    @Test func `nothing is appended without parameters`() throws {
        #expect(try FormSerializer().serialize(request(.get), parameters: nil).head.path == "/items")
        #expect(try FormSerializer().serialize(request(.get), parameters: ["a": [Int]()]).head.path == "/items")
    }

    @Test func `parameters become a form body`() throws {
        let result = try FormSerializer().serialize(request(.post), parameters: ["a": "b c"])
        #expect(text(result) == "a=b%20c")
        #expect(result.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(result.head.path == "/items")
    }

    @Test func `without parameters a form is empty, and there is no JSON or property list`() throws {
        let form = try FormSerializer().serialize(request(.post), parameters: nil)
        #expect(form.body == [])
        #expect(form.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        for serializer in [JSONSerializer(), PropertyListSerializer()] as [any RequestSerializer] {
            let result = try serializer.serialize(request(.post), parameters: nil)
            #expect(result.body == nil)
            #expect(result.head.headerFields[.contentType] == nil)
        }
    }

    @Test func `parameters become the same JSON each time`() throws {
        let result = try JSONSerializer().serialize(request(.put), parameters: ["b": [1, nil], "a": "x/y"])
        #expect(text(result) == #"{"a":"x/y","b":[1,null]}"#)
        #expect(result.head.headerFields[.contentType] == "application/json")
    }

    @Test func `dictionaries and arrays become JSON, as in AFNetworking`() throws {
        let dictionary: Parameters = ["key": "value"]
        #expect(try text(JSONSerializer().serialize(request(.post), parameters: dictionary)) == #"{"key":"value"}"#)
        let array = Parameters([["key": "value"]])
        #expect(try text(JSONSerializer().serialize(request(.post), parameters: array)) == #"[{"key":"value"}]"#)
    }

    @Test func `JSON for human readers is indented`() throws {
        let parameters: Parameters = ["b": [1, 2], "a": ["x": true], "c": [Int](), "d": [String: Int]()]
        let result = try JSONSerializer(isPretty: true).serialize(request(.post), parameters: parameters)
        let expected = """
            {
              "a": {
                "x": true
              },
              "b": [
                1,
                2
              ],
              "c": [],
              "d": {}
            }
            """
        #expect(text(result) == expected)
    }

    @Test func `JSON escapes what the grammar demands, and nothing else`() throws {
        let value = "\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}ü👩‍👧\u{2028}"
        let result = try JSONSerializer().serialize(request(.post), parameters: ["a\n": value])
        let escaped = #"\"\\/\b\f\n\r\t\u0001\u001f"# + "\u{7F}ü👩‍👧\u{2028}"
        #expect(text(result) == "{\"a\\n\":\"\(escaped)\"}")
        #expect(try JSONDecoder().decode([String: String].self, from: Data(result.body ?? [])) == ["a\n": value])
    }

    @Test func `a value that JSON can't represent is rejected with a reason`() {
        let error = #expect(throws: RequestSerializationError.self) {
            try JSONSerializer().serialize(request(.post), parameters: ["a": Double.infinity])
        }
        #expect(error?.description == "the parameter 'a' is not a finite number (inf)")
    }

    @Test(arguments: [false, true]) func `property lists have dates, data and integers of 64 bits`(
        isBinary: Bool
    ) throws {
        struct Values: Codable, Equatable {
            var date = Date(timeIntervalSince1970: 1_795_383_490)
            var data = Data([1, 2])
            var most = UInt64.max
            var ratio = 0.5
            var set = [1, 2]
        }
        let parameters: Parameters = [
            "date": Values().date, "data": Values().data, "most": UInt64.max, "ratio": Decimal(0.5),
            "set": Set([2, 1]),
        ]
        let serializer = PropertyListSerializer(isBinary: isBinary)
        let body = try #require(serializer.serialize(request(.post), parameters: parameters).body)
        #expect(try PropertyListDecoder().decode(Values.self, from: Data(body)) == Values())
    }

    static let notInPropertyLists: [(Parameters, String)] = [
        (["a": [UInt128.max]], "the parameter 'a[0]' has more digits than numbers have in property lists"),
        (["a": ["b": JSONNumber("0.12345678901234567890")]], "the parameter 'a[b]' has more digits"),
        (Parameters("x"), "the parameters are a string: a property list is a dictionary or an array"),
        (["a": Double.nan], "the parameter 'a' is not a finite number"),
    ]

    @Test(arguments: notInPropertyLists)
    func `what property lists can't represent is rejected with its key`(parameters: Parameters, reason: String) {
        let error = #expect(throws: RequestSerializationError.self) {
            try PropertyListSerializer().serialize(request(.post), parameters: parameters)
        }
        #expect(error?.description.hasPrefix(reason) == true, "\(String(describing: error))")
    }

    @Test(arguments: [false, true]) func `parameters become a property list without nulls`(isBinary: Bool) throws {
        let serializer = PropertyListSerializer(isBinary: isBinary)
        let result = try serializer.serialize(request(.post), parameters: ["a": [1, nil], "b": JSONValue.null])
        #expect(result.head.headerFields[.contentType] == "application/x-plist")
        let body = try #require(result.body)
        let read = try PropertyListDecoder().decode([String: [Int]].self, from: Data(body))
        #expect(read == ["a": [1]])
        #expect(body.starts(with: Array((isBinary ? "bplist" : "<?xml").utf8)))
    }

    @Test func `an existing content type is kept`() throws {
        var request = request(.post)
        request.head.headerFields[.contentType] = "application/vnd.api+json"
        let result = try JSONSerializer().serialize(request, parameters: ["a": 1])
        #expect(result.head.headerFields[.contentType] == "application/vnd.api+json")
    }

    private static let serializers: [any RequestSerializer] = [
        FormSerializer(), JSONSerializer(), PropertyListSerializer(),
    ]

    @Test func `parameters of a request with a body of its own are in the target, and the body stays`() throws {
        for serializer in Self.serializers {
            var own = request(.post)
            own.body = [1, 2]
            let result = try serializer.serialize(own, parameters: ["a": 1])
            #expect(result.head.path == "/items?a=1" && result.body == [1, 2])
            #expect(result.head.headerFields[.contentType] == nil)
            #expect(try serializer.serialize(own, parameters: nil) == own)
            let streamed = SerializedRequest(head: request(.put).head, hasStreamedBody: true)
            let sent = try serializer.serialize(streamed, parameters: ["a": 1])
            #expect(sent.head.path == "/items?a=1" && sent.body == nil && sent.hasStreamedBody)
            #expect(try serializer.serialize(streamed, parameters: nil) == streamed)
        }
    }

    @Test func `the methods with parameters in the target are configurable`() throws {
        let placement = ParameterPlacement(methodsInTarget: [.get])
        let result = try JSONSerializer(placement: placement).serialize(request(.delete), parameters: ["a": 1])
        #expect(text(result) == #"{"a":1}"#)
    }

    @Test func `a custom encoding can encode the values itself`() throws {
        let own = FormSerializer { (parameters) throws(RequestSerializationError) in
            let values = try JSONValue(encoding: parameters).object ?? [:]
            return values.map { "\($0)**\($1.string ?? "")" }.joined()
        }
        #expect(try own.serialize(request(.get), parameters: ["key": "value"]).head.path == "/items?key**value")
    }

    @Test func `a custom encoding is used, and its error is rethrown`() throws {
        let own = FormSerializer { _ throws(RequestSerializationError) in "q=own" }
        #expect(try own.serialize(request(.get), parameters: ["a": 1]).head.path == "/items?q=own")
        let refusing = FormSerializer { _ throws(RequestSerializationError) in throw .init("no") }
        #expect(throws: RequestSerializationError.self) {
            try refusing.serialize(request(.post), parameters: ["a": 1])
        }
    }
}
