import FoundationEssentials
import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of the placement of parameters and of the resulting head.
struct RequestSerializerTests {
    private func request(_ method: HTTPRequest.Method, _ path: String = "/items") -> HTTPRequest {
        .init(method: method, scheme: "https", authority: "example.com", path: path)
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
        #expect(try FormSerializer().serialize(request(.get), parameters: ["a": []]).head.path == "/items")
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

    @Test func `a value that JSON can't represent is rejected with a reason`() {
        let error = #expect(throws: RequestSerializationError.self) {
            try JSONSerializer().serialize(request(.post), parameters: ["a": .number(.infinity)])
        }
        #expect(error?.description.contains("no infinite numbers") == true)
    }

    @Test(arguments: [false, true]) func `parameters become a property list without nulls`(isBinary: Bool) throws {
        let serializer = PropertyListSerializer(isBinary: isBinary)
        let result = try serializer.serialize(request(.post), parameters: ["a": [1, nil], "b": nil])
        #expect(result.head.headerFields[.contentType] == "application/x-plist")
        let body = try #require(result.body)
        let read = try PropertyListDecoder().decode([String: [Int]].self, from: Data(body))
        #expect(read == ["a": [1]])
        #expect(body.starts(with: Array((isBinary ? "bplist" : "<?xml").utf8)))
    }

    @Test func `an existing content type is kept`() throws {
        var head = request(.post)
        head.headerFields[.contentType] = "application/vnd.api+json"
        let result = try JSONSerializer().serialize(head, parameters: ["a": 1])
        #expect(result.head.headerFields[.contentType] == "application/vnd.api+json")
    }

    @Test func `the methods with parameters in the target are configurable`() throws {
        let placement = ParameterPlacement(methodsInTarget: [.get])
        let result = try JSONSerializer(placement: placement).serialize(request(.delete), parameters: ["a": 1])
        #expect(text(result) == #"{"a":1}"#)
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
