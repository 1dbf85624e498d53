import HTTPLab

@testable import NetworkClient

extension FaultTable {
    private static func nonsense(_ name: String, _ response: String) -> Fault {
        Fault(name, [.readRequest, .send(response), .readToEnd], .invalidResponse, .answered)
    }

    private static func body(_ name: String, chunks: String) -> Fault {
        nonsense(name, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    }

    private static func coding(_ name: String, _ codings: String) -> Fault {
        nonsense(name, "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\n0\r\n\r\n")
    }

    private static let chunked = "Transfer-Encoding: chunked\r\n"

    /// Responses that are not valid HTTP/1.1.
    static let nonsense: [Fault] = [
        nonsense("another protocol", "SSH-2.0-OpenSSH_9.2p1\r\n"),
        nonsense("bytes of no meaning", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n"),
        nonsense("HTTP/2's version", "HTTP/2.0 200 OK\r\n\r\n"),
        nonsense("a status of letters", "HTTP/1.1 abc OK\r\n\r\n"),
        nonsense("a field without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"),
        nonsense("a field name with a space", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n"),
        nonsense("a length of letters", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n"),
        nonsense("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        nonsense("a length beyond all numbers", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        nonsense("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        nonsense("a switch to another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        nonsense("a status below 100", "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n"),
        nonsense("a status of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
        nonsense("white space before the first field", "HTTP/1.1 200 OK\r\n a: b\r\n\r\n"),
        nonsense("white space before a colon", "HTTP/1.1 200 OK\r\na : b\r\n\r\n"),
        nonsense("a carriage return within a field", "HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n"),
        nonsense("a zero byte within a field", "HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n"),
        nonsense("a length and a transfer coding", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 5\r\n\r\n0\r\n\r\n"),
        nonsense("an empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
        coding("an unknown coding", "br, chunked"), coding("an unknown coding to the connection's end", "compress"),
        coding("chunks of chunks", "chunked, chunked"), coding("chunks within gzip", "chunked, gzip"),
        coding("a coding with a parameter", "chunked;a=b"), coding("no coding", " "),
        coding("too many codings", "gzip, gzip, gzip, gzip, chunked"),
        body("a chunk's size that begins with zeros without end", chunks: String(repeating: "0", count: 17_000)),
        Fault(
            "a chunk's extension that is sent without end",
            [.readRequest, .head("200 OK\nTransfer-Encoding: chunked\n\n9;"), .flood([0x61])],
            .invalidResponse,
            .answered
        ),
        body("an extension longer than any line may be", chunks: "1;" + String(repeating: "a", count: 17_000)),
        body("a chunk's line that ends without a carriage return", chunks: "3\nabc\n0\n\n"),
        body("a chunk's size of letters", chunks: "zz\r\nabc\r\n"),
        body("a chunk's size beyond all numbers", chunks: "FFFFFFFFFFFFFFFFFF\r\nabc\r\n"),
        body("a chunk longer than it says", chunks: "3\r\nabcdef\r\n0\r\n\r\n"),
    ]

    /// Responses that are too large, or can't be decompressed.
    static let excess: [Fault] = [
        Fault(
            "fields without end",
            [.readRequest, .head("200 OK\n"), .flood(Array("X-Field: value\r\n".utf8))],
            .headTooLarge,
            .answered
        ),
        Fault(
            "a field without end",
            [.readRequest, .head("200 OK\nX-Field: "), .flood(Array("value".utf8))],
            .headTooLarge,
            .answered
        ),
        Fault(
            "a status line without end",
            [.readRequest, .flood(Array("HTTP/1.1 200 OK".utf8))],
            .headTooLarge,
            .answered
        ),
        Fault("empty lines without end", [.readRequest, .flood(Array("\r\n".utf8))], .headTooLarge, .answered),
        Fault(
            "endless interim responses",
            [.readRequest, .flood(Array("HTTP/1.1 102 Processing\r\n\r\n".utf8))],
            .headTooLarge,
            .answered
        ),
        Fault(
            "trailers without end",
            [
                .readRequest, .head("200 OK\nTransfer-Encoding: chunked\n\n0\n"),
                .flood(Array("X-Field: value\r\n".utf8)),
            ],
            .headTooLarge,
            .answered
        ),
        Fault(
            "a status line beyond the limit, in one piece with the rest",
            [.readRequest, .head("200 \(String(repeating: "O", count: 1000))\nContent-Length: 0\n\n"), .readToEnd],
            .headTooLarge,
            .answered
        ) { $0.maximumHeadSize = 1000 },
        Fault(
            "fields beyond the limit, in one piece with the rest",
            [.readRequest, .head("200 OK\n\(String(repeating: "a: b\n", count: 200))\n"), .readToEnd],
            .headTooLarge,
            .answered
        ) { $0.maximumHeadSize = 1000 },
        Fault(
            "a length beyond the limit",
            [.readRequest, .head("200 OK\nContent-Length: 1001\n\n"), .readToEnd],
            .bodyTooLarge,
            .answered
        ) { $0.maximumBodySize = 1000 },
        Fault(
            "a body without end",
            [.readRequest, .head("200 OK\n\n"), .flood([0x61])],
            .bodyTooLarge,
            .answered
        ) { $0.maximumBodySize = 1000 },
        Fault(
            "chunks without end",
            [.readRequest, .head("200 OK\nTransfer-Encoding: chunked\n\n"), .flood(Array("1\r\na\r\n".utf8))],
            .bodyTooLarge,
            .answered
        ) { $0.maximumBodySize = 1000 },
        coded("a bomb", "gzip", compressed([UInt8](repeating: 0, count: 1 << 20)), .bodyTooLarge),
        coded("what is not gzip", "gzip", Array("plain text".utf8), .decompressionFailed),
        coded("gzip that ends early", "gzip", compressed(Array("text".utf8)).dropLast(4), .decompressionFailed),
        coded("a coding that was not asked for", "br", [0x0B, 0x00], .decompressionFailed),
    ]

    private static func coded(
        _ name: String,
        _ coding: String,
        _ body: some Sequence<UInt8>,
        _ code: HTTPError.Code
    ) -> Fault {
        let head = "200 OK\nConnection: close\nContent-Encoding: \(coding)\n\n"
        return Fault(
            name,
            [.readRequest, .head(head), .sendBytes(Array(body)), .halfClose, .readToEnd],
            code,
            .answered
        ) {
            $0.maximumBodySize = 1000
        }
    }
}
