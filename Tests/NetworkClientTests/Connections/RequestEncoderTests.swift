import NIOCore
import NIOHTTP1
import Testing

@testable import NetworkClient

/// The bytes of requests over HTTP/1.1.
@Suite struct RequestEncoderTests {
    private func head(_ uri: String, _ fields: HTTPHeaders, _ method: HTTPMethod = .GET) -> HTTPRequestHead {
        .init(version: .http1_1, method: method, uri: uri, headers: fields)
    }

    @Test func `a head has its fields as they are, in order`() {
        var encoder = RequestEncoder()
        let fields: HTTPHeaders = [
            "Host": "a", "X-B": "é, 1", "x-b": "", "X-Long-Name-Of-A-Field": "a value of some length",
        ]
        let bytes = encoder.encode(head("/p?q=1", fields, .RAW(value: "PURGE")))
        #expect(
            String(buffer: bytes)
                == "PURGE /p?q=1 HTTP/1.1\r\nHost: a\r\nX-B: é, 1\r\nx-b: \r\n"
                + "X-Long-Name-Of-A-Field: a value of some length\r\n\r\n"
        )
    }

    @Test(arguments: [1, 100, 100_000])
    func `a head that is still being sent stays as it is when the next one is encoded`(size: Int) {
        var encoder = RequestEncoder()
        let texts = (1...3).map { "/\($0)" + String(repeating: "x", count: size * $0 % 7_919) }
        let heads = texts.map { encoder.encode(head($0, ["Host": "a"])) }
        #expect(heads.map { String(buffer: $0) } == texts.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" })
    }

    @Test func `a body of known length is sent as it is`() {
        var encoder = RequestEncoder()
        _ = encoder.encode(head("/", ["Content-Length": "3"], .POST))
        #expect(encoder.frame(of: .byteBuffer(.init(string: "abc"))) == nil)
        #expect(encoder.encodeEnd(nil) == nil)
    }

    @Test(arguments: ["Transfer-Encoding", "transfer-encoding"])
    func `the pieces of a chunked body have their size before them, and an end`(name: String) throws {
        var encoder = RequestEncoder()
        _ = encoder.encode(head("/", [name: "chunked"], .POST))
        let frame = try #require(encoder.frame(of: .byteBuffer(.init(repeating: 0, count: 0x1AF))))
        #expect(String(buffer: frame.start) == "1af\r\n" && String(buffer: frame.end) == "\r\n")
        // A chunk of no bytes is the end of the body.
        #expect(encoder.frame(of: .byteBuffer(.init())) == nil)
        #expect(encoder.encodeEnd(nil) == .init(string: "0\r\n\r\n"))
        #expect(encoder.encodeEnd(["A": "b", "C": "d"]) == .init(string: "0\r\nA: b\r\nC: d\r\n\r\n"))
        // The next request decides for itself.
        _ = encoder.encode(head("/", [:]))
        #expect(encoder.encodeEnd(nil) == nil)
    }
}
