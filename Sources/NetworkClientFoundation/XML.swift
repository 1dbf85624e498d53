import Foundation
public import FoundationXML
public import NetworkClient

extension DataRequest {
    /// Returns the response's body as an XML document.
    ///
    /// ```swift
    /// let feed = try await session.get("feed.xml").xmlDocument()
    /// let titles = try feed.nodes(forXPath: "//item/title").compactMap(\.stringValue)
    /// ```
    ///
    /// - Parameter options: The options of the parser. By default, external entities are not loaded: otherwise a server
    ///   could make this program read its files into the document.
    /// - Returns: The document.
    /// - Throws: ``HTTPError``, as ``data()``; ``HTTPError/Code/unacceptableContentType`` unless the body has a media type
    ///   of XML, ``HTTPError/Code/responseSerializationFailed`` if it is not well-formed.
    public func xmlDocument(
        options: XMLNode.Options = .nodeLoadExternalEntitiesNever
    ) async throws(HTTPError) -> sending XMLDocument {
        let serializer = XMLDocumentSerializer(expectation: expectation(.xml), options: options)
        nonisolated(unsafe) let document = try await value(serializer).document
        return document
    }

    /// Returns a parser of the response's body, which has not started: set its delegate, and call `parse()`.
    ///
    /// It does not load external entities unless `shouldResolveExternalEntities` is set.
    ///
    /// - Returns: The parser.
    /// - Throws: ``HTTPError``, as ``data()``; ``HTTPError/Code/unacceptableContentType`` unless the body has a media type
    ///   of XML.
    public func xmlParser() async throws(HTTPError) -> sending XMLParser {
        XMLParser(data: Data(try await value(BytesResponseSerializer(expectation: expectation(.xml)))))
    }
}

/// Parses the body as an XML document.
private struct XMLDocumentSerializer: ResponseSerializer {
    let expectation: ResponseExpectation
    let options: XMLNode.Options

    func serialize(
        _ response: HTTPResponse,
        body: [UInt8]
    ) throws(ResponseSerializationError) -> UnsharedDocument {
        try expectation.value(of: response, body: body) { body in
            let data = Data(body)
            // `XMLDocument` accepts what is not well-formed, and crashes if there is no element.
            try WellFormedness.check(data)
            return .init(document: try XMLDocument(data: data, options: options))
        }
    }
}

/// Checks that data is a well-formed XML document with a root element.
private final class WellFormedness: NSObject, XMLParserDelegate {
    private var hasElement = false
    private var fault: (any Error)?

    static func check(_ data: Data) throws {
        let (parser, check) = (XMLParser(data: data), WellFormedness())
        parser.delegate = check
        // On Linux, `parse` may return true although there was an error.
        let isParsed = parser.parse()
        if let fault = check.fault ?? parser.parserError {
            throw XMLFault(line: parser.lineNumber, column: parser.columnNumber, code: (fault as NSError).code)
        }
        guard isParsed, check.hasElement else { throw XMLFault(line: nil, column: nil, code: nil) }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        hasElement = true
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { fault = fault ?? parseError }
}

/// The reason why data is not an XML document.
private struct XMLFault: Error, CustomStringConvertible {
    let line: Int?
    let column: Int?
    /// The number of the parser's error; see `XMLParser.ErrorCode`.
    let code: Int?

    var description: String {
        guard let line, let column, let code else { return "the document has no complete element" }
        return "the document is not well-formed at line \(line), column \(column) (XMLParser.ErrorCode \(code))"
    }
}

/// A document to which nothing else has a reference; unchecked, because a document is not `Sendable`.
private struct UnsharedDocument: @unchecked Sendable {
    let document: XMLDocument
}
