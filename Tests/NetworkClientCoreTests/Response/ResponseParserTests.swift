import Testing

@testable import NetworkClientCore

/// Tests of responses that are parsed from bytes, however they are split.
struct ResponseParserTests {
    /// The parsed elements, with the pieces of the body joined.
    private struct Reading: Equatable {
        var heads: [String] = []
        var body = ""
        var ends = 0
        var fault: ResponseFault?
    }

    private func read(
        _ pieces: [[UInt8]],
        method: String = "GET",
        maximumHeadSize: Int = 1_000,
        closes: Bool = true
    ) -> Reading {
        var reading = Reading()
        var parser = ResponseParser(maximumHeadSize: maximumHeadSize)
        parser.expectResponse(to: method)
        do throws(ResponseFault) {
            for piece in pieces { try feed(piece, to: &parser, &reading) }
            if closes, try parser.finish() != nil { reading.ends += 1 }
        } catch {
            reading.fault = error
        }
        return reading
    }

    private func feed(_ piece: [UInt8], to parser: inout ResponseParser, _ reading: inout Reading) throws(ResponseFault)
    {
        var rest = piece[...]
        while true {
            let result = rest.withUnsafeBytes { bytes in
                Result { () throws(ResponseFault) in try parser.next(bytes) }
            }
            let (consumed, event) = try result.get()
            switch event {
            case nil: return
            case .head(let head)?:
                let fields = head.fields.map { "\($0.0)=\($0.1)" }.joined(separator: ";")
                reading.heads.append("1.\(head.minorVersion) \(head.status) \(fields)")
            case .body(let count)?:
                reading.body += String(decoding: rest.prefix(consumed).suffix(count), as: UTF8.self)
            case .end?: reading.ends += 1
            }
            rest = rest.dropFirst(consumed)
        }
    }

    private static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "\r\n\nHTTP/1.1 200\nA: b\n c\nContent-Length: 2 \t\n\nhi",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.0 404 No\r\n\r\nuntil the end",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n00a \r\n0123456789\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nraw",
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\nwhatever",
        "HTTP/1.1 099 OK\r\n\r\n",
        "SSH-2.0-OpenSSH",
        "HTTP/1.1 200 OK\r\nA: b", String(repeating: "x", count: 1_100) + "\r\n",
        "HTTP/1.1 200 " + String(repeating: "x", count: 1_100) + "\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n" + String(repeating: "x", count: 1_100) + "\r\n",
    ]

    @Test(arguments: responses)
    func `a response is parsed alike however it is split`(text: String) {
        let bytes = Array(text.utf8)
        let whole = read([bytes])
        #expect(read(bytes.map { [$0] }) == whole)
        for index in bytes.indices { #expect(read([Array(bytes[..<index]), Array(bytes[index...])]) == whole) }
    }

    @Test func `heads, bodies and ends are found`() {
        let readings = Self.responses.map { read([Array($0.utf8)]) }
        #expect(readings[0] == Reading(heads: ["1.1 200 Content-Length=2"], body: "hi", ends: 1))
        #expect(readings[1] == Reading(heads: ["1.1 200 A=b c;Content-Length=2"], body: "hi", ends: 1))
        #expect(readings[2].heads == ["1.1 100 ", "1.1 103 A=b", "1.0 404 "])
        #expect(readings[2].body == "until the end" && readings[2].ends == 1)
        #expect(readings[3].body == "abc0123456789" && readings[3].ends == 1 && readings[3].fault == nil)
        #expect(readings[4].fault == .malformed("a chunk is longer than its size"))
        #expect(readings[5].body == "raw" && readings[5].ends == 1)
        #expect(readings[6].ends == 1 && readings[6].fault == nil)
        #expect(readings[7].fault == .truncated)
        #expect(readings[8].ends == 1 && readings[8].fault == .unsolicited)
        #expect(readings[9] == Reading(heads: ["1.1 101 "]))
        #expect(readings[10].fault == .malformed("its status is below 100"))
        #expect(readings[11].fault == .malformed("it does not start with HTTP/1.1"))
        #expect(readings[12].fault == .truncated)
    }

    @Test func `another protocol is detected from its first bytes`() {
        #expect(read([Array("SS".utf8)], closes: false).fault == .malformed("it does not start with HTTP/1.1"))
        #expect(read([Array("HTTP/1".utf8)], closes: false).fault == nil)
    }

    @Test(arguments: ["HEAD", "CONNECT"])
    func `the response to a method without content has no body`(method: String) {
        let reading = read([Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)], method: method)
        #expect(reading.ends == 1 && reading.fault == nil)
    }

    @Test func `the limit applies to all heads of a response and to its trailers`() {
        let interim = "HTTP/1.1 102 Processing\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let trailers = "0\r\n" + String(repeating: "A: b\r\n", count: 20) + "\r\n"
        let bytes = Array((interim + head + trailers).utf8)
        let (headSize, trailerSize) = (interim.utf8.count + head.utf8.count, trailers.utf8.count - 3)
        #expect(trailerSize > headSize)
        #expect(read([bytes], maximumHeadSize: trailerSize).ends == 1)
        #expect(read([bytes], maximumHeadSize: trailerSize - 1).fault == .headTooLarge(trailerSize - 1))
        #expect(read([bytes], maximumHeadSize: headSize - 1).heads == ["1.1 102 "])
        #expect(read([bytes], maximumHeadSize: headSize - 1).fault == .headTooLarge(headSize - 1))
    }

    @Test(
        arguments: [
            (["chunked"], [], true), (["\tChunked "], [], true), (["gzip", "chunked"], [.gzip], true),
            (["x-gzip, deflate"], [.gzip, .deflate], false), ([",identity,, chunked,"], [], true),
            (["gzip,gzip,gzip"], [.gzip, .gzip, .gzip], false),
        ] as [([String], [TransferCodings.Compression], Bool)]
    )
    func `transfer codings are parsed in order`(
        values: [String],
        compressions: [TransferCodings.Compression],
        isChunked: Bool
    ) throws {
        let codings = try TransferCodings(values)
        #expect(codings.compressions == compressions)
        #expect(codings.isChunked == isChunked)
    }

    @Test(arguments: [
        "", " , ", "br", "chunked, chunked", "chunked, gzip", "chunked;a=b", "gzip gzip", "gzip,gzip,gzip,gzip",
        "\u{B}chunked",
    ])
    func `unknown or misplaced transfer codings are rejected`(value: String) {
        #expect(throws: ResponseFault.self) { try TransferCodings([value]) }
    }
}
