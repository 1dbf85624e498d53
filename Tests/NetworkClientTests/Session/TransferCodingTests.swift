import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Bodies that are compressed for their transfer (RFC 9112, 6.1 and 7.2).
@Suite(.timeLimit(.minutes(10)))
struct TransferCodingTests {
    private static let text = Array(String(repeating: "transfer coding ", count: 5_000).utf8)

    private static func chunks(_ bytes: [UInt8]) -> [UInt8] {
        let middle = bytes.count / 2
        return [bytes[..<middle], bytes[middle...]].reduce(into: []) { result, piece in
            result += Array(String(piece.count, radix: 16).utf8) + [13, 10] + piece + [13, 10]
        } + Array("0\r\n\r\n".utf8)
    }

    /// A server that sends a text with a coding, and `next` as the second response.
    private static func server(_ coding: String, _ body: [UInt8], _ field: String = "") throws -> ScriptedServer {
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\(field)\r\n".utf8)
        let isChunked = coding.lowercased().contains("chunked")
        return try ScriptedServer(
            always: [.readRequest, .sendBytes(head + (isChunked ? chunks(body) : body))]
                + (isChunked ? [.readRequest, .response("next")] : [.halfClose]) + [.readToEnd]
        )
    }

    private static func session(_ server: ScriptedServer, decompresses: Bool = true) throws -> HTTPSession {
        var configuration = HTTPConfiguration.lasting
        configuration.decompresses = decompresses
        return try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    @Test(
        arguments: [
            ("gzip, chunked", [Wrapping.gzip]), ("x-gzip ,\tChunked", [.gzip]), ("deflate, chunked", [.zlib]),
            ("gzip\r\nTransfer-Encoding: chunked", [.gzip]), ("deflate, gzip, chunked", [.zlib, .gzip]),
            ("identity, chunked", []), ("gzip", [.gzip]), ("X-GZip\t", [.gzip]), ("deflate", [.zlib]), ("identity", []),
        ] as [(String, [Wrapping])]
    )
    func `known codings are decoded`(coding: String, wrappings: [Wrapping]) async throws {
        let body = wrappings.reduce(Self.text) { compressed($0, $1) }
        for decompresses in [true, false] {
            let server = try Self.server(coding, body)
            let session = try Self.session(server, decompresses: decompresses)
            #expect(try await session.get("").response().bytes == Self.text)
            guard coding.lowercased().contains("chunked") else { continue }
            #expect(try await session.get("").string() == "next")
            #expect(server.connections.count == 1)
        }
    }

    @Test func `transfer codings are undone before content codings, which stay where they are not to be undone`()
        async throws
    {
        let content = compressed(Self.text, .zlib)
        let server = try Self.server("gzip, chunked", compressed(content), "Content-Encoding: deflate\r\n")
        #expect(try await Self.session(server).get("").response().bytes == Self.text)
        #expect(try await Self.session(server, decompresses: false).get("").response().bytes == content)
    }

    @Test func `a file and a stream have the body without its transfer coding`() async throws {
        let lab = try DownloadLab()
        let server = try Self.server("gzip, chunked", compressed(Self.text))
        let session = try Self.session(server)
        #expect(try await session.download("", to: lab.path).response().file.size == Int64(Self.text.count))
        #expect(lab.file == Self.text)
        var streamed: [UInt8] = []
        let other = try Self.server("gzip", compressed(Self.text))
        let streaming = try Self.session(other)
        for try await piece in try await streaming.stream(.get, "").response().body {
            streamed += piece.readableBytesView
        }
        #expect(streamed == Self.text)
        #expect(server.connections.count == 1 && other.connections.count == 1)
    }

    @Test func `invalid or truncated compressed data are an error`() async throws {
        for body in [Array("plain".utf8), compressed(Self.text).dropLast(9)] {
            for coding in ["gzip", "gzip, chunked"] {
                let server = try Self.server(coding, Array(body))
                let session = try Self.session(server)
                let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
                #expect(error?.code == .decompressionFailed)
                #expect(server.connections.count == 1)
            }
        }
    }

    @Test func `a body compressed for its transfer is held to the body's limit`() async throws {
        let server = try Self.server("gzip, chunked", compressed([UInt8](repeating: 0, count: 1 << 20)))
        var configuration = HTTPConfiguration.lasting
        configuration.maximumBodySize = 100_000
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func `a response without a body may have an unknown coding`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: br\r\n\r\n"),
            .readRequest, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), .readToEnd,
        ])
        let session = try Self.session(server)
        #expect(try await session.get("").response().status == 304)
        #expect(try await session.request(.head, "").response().bytes.isEmpty)
    }
}
