import Foundation
import FoundationXML
import HTTPLab
import NetworkClient
import NetworkClientFoundation
import Testing

/// Responses as XML documents, parsers and images.
@Suite(.timeLimit(.minutes(5)))
struct XMLAndImageTests {
    private struct Stub: Transport {
        var status = 200
        var type: String
        var body: String

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var head = HTTPResponse(status: .init(code: status))
            head.headerFields[.contentType] = type
            return .init(head: head, body: Array(body.utf8))
        }
    }

    private func request(
        _ body: String,
        _ type: String = "application/xml",
        status: Int = 200,
        settings: ResponseSerializerSettings = .init()
    ) throws -> DataRequest {
        let transport = Stub(status: status, type: type, body: body)
        return try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(responseSerializer: settings, transport: transport)
        ).get("")
    }

    @Test(arguments: ["application/xml", "text/xml; charset=utf-8", "application/atom+xml"])
    func `a document is read from XML`(type: String) async throws {
        let document = try await request("<a><b x=\"1\">ü</b><b/></a>", type).xmlDocument()
        #expect(document.rootElement()?.name == "a")
        #expect(try document.nodes(forXPath: "//b[@x='1']").first?.stringValue == "ü")
    }

    /// Entities that would expand to ten billion bytes.
    private static let bomb =
        "<!DOCTYPE a [<!ENTITY e0 \"xxxxxxxxxx\">"
        + (1...9).map { "<!ENTITY e\($0) \"\(String(repeating: "&e\($0 - 1);", count: 10))\">" }.joined()
        + "]><a>&e9;</a>"

    @Test(arguments: ["", " ", "<foo", "<a><b></a>", "no markup", "<a>&unknown;</a>", "<a/><b/>", bomb])
    func `what is not well-formed is an error, not a crash`(body: String) async throws {
        let request = try request(body)
        let error = await #expect(throws: HTTPError.self) { _ = try await request.xmlDocument() }
        #expect(error?.code == .responseSerializationFailed && error?.body == Array(body.utf8))
    }

    @Test func `the error says where the document is not well-formed`() async throws {
        let request = try request("<a>\n<b></a>")
        let error = await #expect(throws: HTTPError.self) { _ = try await request.xmlDocument() }
        #expect(error?.reason.contains("the document is not well-formed at line 2, column ") == true)
        #expect(error?.metrics != nil && error?.request == "GET http://example.com/")
    }

    @Test func `external entities are not loaded`() async throws {
        let folder = try LabFolder()
        let secret = try folder.write("secret", "sesame")
        let text = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://\(secret)\">]><a>&x;</a>"
        let document = try await request(text).xmlDocument()
        #expect(document.rootElement()?.stringValue?.contains("sesame") == false)
    }

    @Test func `a parser is ready to be started`() async throws {
        final class Names: NSObject, XMLParserDelegate {
            var names: [String] = []

            func parser(
                _ parser: XMLParser,
                didStartElement name: String,
                namespaceURI: String?,
                qualifiedName: String?,
                attributes: [String: String] = [:]
            ) { names.append(name) }
        }
        let parser = try await request("<a><b/></a>").xmlParser()
        let names = Names()
        parser.delegate = names
        #expect(parser.parse() && names.names == ["a", "b"])
    }

    @Test func `status and type are checked, by the settings too`() async throws {
        let wrongType = try request("<a/>", "text/html")
        let type = await #expect(throws: HTTPError.self) { _ = try await wrongType.xmlDocument() }
        #expect(type?.code == .unacceptableContentType)
        let failed = try request("<a/>", status: 500)
        let status = await #expect(throws: HTTPError.self) { _ = try await failed.xmlParser() }
        #expect(status?.code == .unacceptableStatus && status?.body == Array("<a/>".utf8))
        var settings = ResponseSerializerSettings()
        settings.expectation.statuses = [500]
        #expect(try await request("<a/>", status: 500, settings: settings).xmlDocument().rootElement()?.name == "a")
    }

    private struct Picture: Sendable, Equatable { var size: Int }
    private struct NoPicture: Error {}

    @Test func `an image is decoded by a closure`() async throws {
        let picture = try await request("GIF87a", "image/gif").image { Picture(size: $0.count) }
        #expect(picture == Picture(size: 6))
        let text = try request("GIF87a", "text/plain")
        let type = await #expect(throws: HTTPError.self) { try await text.image { Picture(size: $0.count) } }
        #expect(type?.code == .unacceptableContentType)
        let broken = try request("x", "image/png")
        let fault = await #expect(throws: HTTPError.self) {
            try await broken.image { _ -> Picture in throw NoPicture() }
        }
        #expect(fault?.code == .responseSerializationFailed && fault?.cause is NoPicture)
        let serializer = ImageResponseSerializer(expectation: .init(mediaTypes: ["image/*"])) {
            Picture(size: $0.count)
        }
        #expect(try await request("x", "image/avif").value(serializer) == Picture(size: 1))
    }
}
