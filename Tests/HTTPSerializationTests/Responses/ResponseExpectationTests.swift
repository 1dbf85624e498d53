import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of each combination of status, content type and body.
struct ResponseExpectationTests {
    private func response(_ status: Int, _ type: String?) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.contentType] = type
        return response
    }

    private func serialize(
        _ status: Int,
        _ type: String?,
        _ body: String
    ) -> Result<JSONValue, ResponseSerializationError> {
        let response = response(status, type)
        return Result { () throws(ResponseSerializationError) in
            try JSONResponseSerializer().serialize(response, body: Array(body.utf8))
        }
    }

    @Test(arguments: [
        "application/json", "application/json; charset=utf-8", "text/json", "text/javascript", "APPLICATION/JSON",
        "application/problem+json", "application/vnd.api+json;v=1",
    ])
    func `an acceptable response is decoded`(type: String) throws {
        #expect(try serialize(200, type, #"{"a":1}"#).get() == ["a": 1])
    }

    @Test(arguments: ["text/html", "application/jsonx", "json", nil])
    func `an unacceptable content type is an error`(type: String?) throws {
        guard case .failure(let error) = serialize(200, type, "{}") else {
            Issue.record("a value")
            return
        }
        #expect(error.code == .unacceptableContentType)
        #expect(error.decoded == nil)
        #expect(error.status == 200)
        #expect(error.contentType == type)
    }

    @Test(arguments: [400, 401, 404, 500, 301, 199]) func `an unacceptable status is an error with the decoded body`(
        status: Int
    ) throws {
        guard case .failure(let error) = serialize(status, "application/json", #"{"reason":"x"}"#) else {
            Issue.record("a value")
            return
        }
        #expect(error.code == .unacceptableStatus)
        #expect(error.status == status)
        #expect(error.decoded as? JSONValue == ["reason": "x"])
        #expect(error.underlying == nil)
    }

    @Test func `an unacceptable status with an unacceptable type has both errors`() throws {
        guard case .failure(let error) = serialize(502, "text/html", "<html>") else {
            Issue.record("a value")
            return
        }
        #expect(error.code == .unacceptableStatus)
        #expect(error.decoded == nil)
        #expect((error.underlying as? ResponseSerializationError)?.code == .unacceptableContentType)
        #expect("\(error)".contains("status 502"))
    }

    @Test func `an unacceptable status with an invalid body is reported as the status`() throws {
        guard case .failure(let error) = serialize(500, "application/json", "<html>") else {
            Issue.record("a value")
            return
        }
        #expect(error.code == .unacceptableStatus)
        #expect(error.decoded == nil)
    }

    @Test(arguments: [("", nil), ("", "text/html"), (" ", "application/json")] as [(String, String?)])
    func `an empty body is not an error`(body: String, type: String?) throws {
        #expect(try serialize(204, type, body).get() == .null)
    }

    @Test(arguments: ["{", "nul", "\u{FEFF}{", "[1,]]", "{invalid}"]) func `an invalid body is an error`(
        body: String
    ) throws {
        guard case .failure(let error) = serialize(200, "application/json", body) else {
            Issue.record("a value")
            return
        }
        #expect(error.code == .undecodable)
        #expect(error.underlying != nil)
    }

    @Test func `nulls are removed on request`() throws {
        let serializer = JSONResponseSerializer(removesNulls: true)
        let body = Array(#"{"a":null,"b":[null,1]}"#.utf8)
        #expect(try serializer.serialize(response(200, "application/json"), body: body) == ["b": [1]])
    }

    @Test func `nulls are removed where AFNetworking removes them`() throws {
        let serializer = JSONResponseSerializer(removesNulls: true)
        let body = Array(#"{"key":"value","nullkey":null,"array":[{"subnullkey":null}]}"#.utf8)
        #expect(
            try serializer.serialize(response(200, "text/json"), body: body) == ["key": "value", "array": [[:]]]
        )
    }

    @Test func `numbers of a response keep their digits`() throws {
        let value = try serialize(200, "application/json", #"{"id":18446744073709551615,"price":0.10}"#).get()
        #expect(value["id"]?.number?.integer() == UInt64.max)
        #expect(value["price"]?.number?.description == "0.10")
    }

    @Test func `the acceptable status codes are configurable`() throws {
        let serializer = BytesResponseSerializer(expectation: .init(statuses: [404]))
        #expect(try serializer.serialize(response(404, nil), body: [1, 2]) == [1, 2])
        #expect(throws: ResponseSerializationError.self) { try serializer.serialize(response(200, nil), body: []) }
    }
}
