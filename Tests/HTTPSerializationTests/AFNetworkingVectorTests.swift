import FoundationEssentials
import HTTPTypes
import Testing

@testable import HTTPSerialization

/// The inputs and results of AFNetworking's own tests of its serializers.
///
/// Those of queries are in ``QueryPairsTests``, those of the security policy in the tests of the client. What differs here is
/// noted where it does: `Set` is an array in JSON, the Foundation of AFNetworking has no JSON for it; a file named `.cer` has
/// the registered type `application/pkix-cert`.
struct AFNetworkingVectorTests {
    // MARK: Requests

    private struct Request: Sendable, CustomTestStringConvertible {
        var serializer: any RequestSerializer
        var method = HTTPRequest.Method.post
        var parameters: Parameters?
        var path = "/"
        var type: String?
        var body: String?

        var testDescription: String { "\(Swift.type(of: serializer)) \(method) \(path) \(body ?? "")" }
    }

    private static let form = "application/x-www-form-urlencoded"
    private static let emoji = "👴🏿👷🏻👮🏽"
    private static let escapedEmoji =
        "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"

    private static let requests: [Request] = [
        .init(serializer: FormSerializer(), parameters: ["key": "value"], type: form, body: "key=value"),
        .init(serializer: FormSerializer(), type: form, body: ""),
        .init(serializer: FormSerializer(), method: .get, parameters: ["key": "value"], path: "/?key=value"),
        .init(serializer: FormSerializer(), method: .get, parameters: [:]),
        .init(
            serializer: FormSerializer(),
            method: .get,
            parameters: ["test": "!\(String(repeating: emoji, count: 5))"],
            path: "/?test=%21\(String(repeating: escapedEmoji, count: 5))"
        ),
        .init(
            serializer: JSONSerializer(),
            parameters: ["key": "value"],
            type: "application/json",
            body: #"{"key":"value"}"#
        ),
        .init(
            serializer: JSONSerializer(),
            parameters: Parameters([["key": "value"]]),
            type: "application/json",
            body: #"[{"key":"value"}]"#
        ),
        .init(
            serializer: JSONSerializer(),
            parameters: ["key": Set(["value"])],
            type: "application/json",
            body: #"{"key":["value"]}"#
        ),
    ]

    @Test(arguments: requests) private func `requests are serialized as AFNetworking does`(expected: Request) throws {
        let head = HTTPRequest(method: expected.method, scheme: "http", authority: "example.com", path: "/")
        let result = try expected.serializer.serialize(.init(head: head), parameters: expected.parameters)
        #expect(result.head.path == expected.path)
        #expect(result.head.headerFields[.contentType] == expected.type)
        #expect(result.body.map { String(decoding: $0, as: UTF8.self) } == expected.body)
    }

    @Test func `a property list is the body, and keys are text`() throws {
        let head = HTTPRequest(method: .post, scheme: "http", authority: "example.com", path: "/")
        let result = try PropertyListSerializer().serialize(.init(head: head), parameters: ["key": "value"])
        #expect(result.head.headerFields[.contentType] == "application/x-plist")
        let read = try PropertyListDecoder().decode([String: String].self, from: Data(result.body ?? []))
        #expect(read == ["key": "value"])
        // A number as a key is text, where AFNetworking fails.
        let numbered = try PropertyListSerializer().serialize(.init(head: head), parameters: Parameters([42: "value"]))
        #expect(
            try PropertyListDecoder().decode([String: String].self, from: Data(numbered.body ?? [])) == ["42": "value"]
        )
    }

    @Test(arguments: [("a.png", "image/png"), ("a.cer", "application/pkix-cert"), ("a", "application/octet-stream")])
    func `the type of a file's part follows from its name`(name: String, type: String) {
        #expect(FileMediaType.type(ofFileNamed: name) == type)
    }

    // MARK: Responses

    private enum Kind: String, Sendable { case json, plist, xml, image, bytes, html }

    private struct Response: Sendable, CustomTestStringConvertible {
        var kind: Kind
        var status = 200
        var type: String?
        var body: String
        var fault: ResponseSerializationError.Code?

        var testDescription: String { "\(kind) \(status) \(type ?? "no type") '\(body)'" }
    }

    private static let acceptable: [Kind: [String]] = [
        .json: ["application/json", "text/json", "text/javascript"], .xml: ["application/xml", "text/xml"],
        .plist: ["application/x-plist"],
        .image: [
            "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
            "image/x-bmp", "image/x-xbitmap", "image/x-ms-bmp", "image/x-win-bitmap", "image/webp",
        ],
    ]

    private static let bodies: [Kind: String] = [
        .json: #"{"foo":"bar"}"#, .xml: "<foo/>", .image: "GIF87a",
        .plist: #"<?xml version="1.0"?><plist version="1.0"><dict><key>foo</key><string>bar</string></dict></plist>"#,
    ]

    private static let responses: [Response] =
        acceptable.flatMap { kind, types in types.map { .init(kind: kind, type: $0, body: bodies[kind] ?? "") } } + [
            .init(kind: .json, type: "nonstandard/json", body: "{}", fault: .unacceptableContentType),
            .init(kind: .xml, type: "nonstandard/xml", body: "<foo/>", fault: .unacceptableContentType),
            .init(kind: .json, type: "text/json", body: "{invalid}", fault: .undecodable),
            .init(kind: .json, type: "text/json", body: ""), .init(kind: .json, type: "text/json", body: " "),
            .init(kind: .plist, type: "application/x-plist", body: #"{"foo":"bar"}"#, fault: .undecodable),
            .init(kind: .plist, status: 204, type: "application/x-plist", body: ""),
            .init(kind: .html, status: 205, body: ""),
            .init(kind: .html, status: 205, body: "test", fault: .unacceptableContentType),
        ] + (200...299).map { .init(kind: .bytes, status: $0, type: "text/html", body: "text") }
        + (400...599).map {
            .init(kind: .bytes, status: $0, type: "text/html", body: "text", fault: .unacceptableStatus)
        }

    private func serialize(_ expected: Response) throws(ResponseSerializationError) {
        var response = HTTPResponse(status: .init(code: expected.status))
        response.headerFields[.contentType] = expected.type
        let body = Array(expected.body.utf8)
        switch expected.kind {
        case .json: _ = try JSONResponseSerializer().serialize(response, body: body)
        case .plist: _ = try PropertyListResponseSerializer([String: String]?.self).serialize(response, body: body)
        case .xml: _ = try BytesResponseSerializer(expectation: .xml).serialize(response, body: body)
        case .image: _ = try BytesResponseSerializer(expectation: .image).serialize(response, body: body)
        case .html:
            _ = try BytesResponseSerializer(expectation: .init(mediaTypes: ["text/html"])).serialize(
                response,
                body: body
            )
        case .bytes: _ = try BytesResponseSerializer().serialize(response, body: body)
        }
    }

    @Test func `responses are accepted and refused as AFNetworking does`() {
        for expected in Self.responses {
            do throws(ResponseSerializationError) {
                try serialize(expected)
                #expect(expected.fault == nil, "\(expected.testDescription)")
            } catch {
                #expect(error.code == expected.fault, "\(expected.testDescription)")
            }
        }
    }
}
