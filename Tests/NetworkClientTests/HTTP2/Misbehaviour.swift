import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// What a server does in response to a request, and what the request has to end with.
struct HTTP2Misbehaviour: Sendable, CustomTestStringConvertible {
    typealias Kind = LabHTTP2Frame.Kind
    typealias Action = @Sendable (_ peer: HTTP2Peer, _ stream: UInt32) throws -> Void

    /// The sentence that describes it.
    let testDescription: String
    /// The code of the request's error; nil if the request succeeds.
    let code: HTTPError.Code?
    /// The processing of the request's error.
    let processing: Processing
    /// A part of the error's reason.
    let reason: String
    let action: Action

    /// A violation after which the connection has to be closed (RFC 9113, 5.4.1).
    static func connection(_ name: String, _ reason: String = "violated HTTP/2", _ action: @escaping Action) -> Self {
        .init(
            testDescription: name,
            code: .invalidResponse,
            processing: .maybeProcessed,
            reason: reason,
            action: action
        )
    }

    /// A malformed response (RFC 9113, 8.1.1), which ends only its stream.
    static func malformed(_ name: String, _ reason: String, _ action: @escaping Action) -> Self {
        .init(testDescription: name, code: .invalidResponse, processing: .answered, reason: reason, action: action)
    }

    /// A malformed head.
    static func head(
        _ name: String,
        _ reason: String,
        _ fields: [(String, String)],
        endsStream: Bool = true
    ) -> Self {
        let frame = LabHTTP2Frame.headers(fields, on: 0, ends: endsStream)
        return malformed(name, reason) { peer, stream in
            var frame = frame
            frame.stream = stream
            try peer.send(frame)
        }
    }

    /// A field block that can't be decompressed (RFC 7541).
    static func block(_ name: String, _ bytes: [UInt8]) -> Self {
        connection(name, "no valid frame") { peer, stream in
            try peer.send(.init(Kind.headers, flags: 5, stream: stream, bytes))
        }
    }

    /// Any other outcome.
    static func other(
        _ name: String,
        _ code: HTTPError.Code?,
        _ processing: Processing,
        _ reason: String,
        _ action: @escaping Action
    ) -> Self {
        .init(testDescription: name, code: code, processing: processing, reason: reason, action: action)
    }

    static let all = frames + sizes + settings + windows + streams + blocks + heads + bodies + resets + ends + floods
}

extension HTTP2Misbehaviour {
    /// Frames on the wrong stream, and frames out of order (RFC 9113, 6).
    private static let frames: [Self] =
        [
            ("DATA", Kind.data), ("HEADERS", Kind.headers), ("RST_STREAM", Kind.reset), ("PRIORITY", Kind.priority),
            ("CONTINUATION", Kind.continuation), ("PUSH_PROMISE", Kind.push),
        ].map { name, kind in
            connection("\(name) on stream 0") { peer, _ in
                try peer.send(.init(kind, flags: 4, [0, 0, 0, 2, 0x88]))
            }
        }
        + [("SETTINGS", Kind.settings, 6), ("PING", Kind.ping, 8), ("GOAWAY", Kind.goAway, 8)].map { name, kind, size in
            connection("\(name) on a stream") { peer, stream in
                try peer.send(.init(kind, stream: stream, [UInt8](repeating: 0, count: size)))
            }
        } + [
            connection("PUSH_PROMISE although push is off") { peer, stream in
                try peer.send(.init(Kind.push, flags: 4, stream: stream, [0, 0, 0, 2, 0x82, 0x84, 0x86]))
            },
            connection("CONTINUATION without HEADERS") { peer, stream in
                try peer.send(.init(Kind.continuation, flags: 4, stream: stream, [0x88]))
            },
            connection("DATA within a field block") { peer, stream in
                try peer.send(.init(Kind.headers, stream: stream, [0x88]), .data([1], on: stream))
            },
            connection("PING within a field block") { peer, stream in
                try peer.send(
                    .init(Kind.headers, stream: stream, [0x88]),
                    .init(Kind.ping, [UInt8](repeating: 0, count: 8))
                )
            },
            connection("CONTINUATION of another stream") { peer, stream in
                try peer.send(
                    .init(Kind.headers, stream: stream, [0x88]),
                    .init(Kind.continuation, flags: 4, stream: stream + 2, [0x88])
                )
            },
            connection("a stream that depends on itself") { peer, stream in
                try peer.send(.init(Kind.priority, stream: stream, LabHTTP2Frame.number(stream, of: 4) + [0]))
            },
        ]

    /// Frames of a wrong size (RFC 9113, 4.2 and 6).
    private static let sizes: [Self] = [
        ("DATA of 16,385 bytes", Kind.data, 16_385, true), ("HEADERS of 16,385 bytes", Kind.headers, 16_385, true),
        ("SETTINGS of 5 bytes", Kind.settings, 5, false), ("PING of 7 bytes", Kind.ping, 7, false),
        ("PING of 9 bytes", Kind.ping, 9, false), ("RST_STREAM of 3 bytes", Kind.reset, 3, true),
        ("RST_STREAM of 5 bytes", Kind.reset, 5, true), ("PRIORITY of 4 bytes", Kind.priority, 4, true),
        ("WINDOW_UPDATE of 3 bytes", Kind.windowUpdate, 3, true), ("GOAWAY of 7 bytes", Kind.goAway, 7, false),
        ("PUSH_PROMISE of 3 bytes", Kind.push, 3, true),
    ].map { name, kind, size, isOnStream in
        connection(name) { peer, stream in
            try peer.send(.init(kind, flags: 4, stream: isOnStream ? stream : 0, [UInt8](repeating: 0, count: size)))
        }
    }

    /// Invalid settings (RFC 9113, 6.5).
    private static let settings: [Self] =
        [
            ("ENABLE_PUSH of 2", 2, 2), ("INITIAL_WINDOW_SIZE of 2^31", 4, 1 << 31),
            ("MAX_FRAME_SIZE of 16,383", 5, 16_383), ("MAX_FRAME_SIZE of 2^24", 5, 1 << 24),
            ("ENABLE_CONNECT_PROTOCOL of 2", 8, 2),
        ].map { (name: String, setting: UInt16, value: UInt32) in
            connection(name) { peer, _ in try peer.send(.settings([(setting, value)])) }
        } + [
            connection("ENABLE_CONNECT_PROTOCOL that is withdrawn") { peer, _ in
                try peer.send(.settings([(8, 1)]), .settings([(8, 0)]))
            },
            connection("an acknowledgement of settings with a payload") { peer, _ in
                try peer.send(.init(Kind.settings, flags: 1, [0, 1, 0, 0, 0, 0]))
            },
        ]

    /// Violations of the flow control (RFC 9113, 6.9).
    private static let windows: [Self] = [
        connection("an increment of 0 for the connection") { peer, _ in try peer.send(.windowUpdate(0)) },
        connection("a window of the connection beyond 2^31-1") { peer, _ in
            try peer.send(.windowUpdate(0x7FFF_FFFF))
        },
        connection("a window update for a stream that is idle") { peer, stream in
            try peer.send(.windowUpdate(1, on: stream + 2))
        },
        // The request is complete, so that its window means nothing.
        other("updates of the window of a request that was sent", nil, .answered, "") { peer, stream in
            try peer.send(.windowUpdate(0, on: stream), .windowUpdate(0x7FFF_FFFF, on: stream))
            try peer.respond(on: stream)
        },
    ]

    /// Frames that the state of the stream does not allow (RFC 9113, 5.1).
    private static let streams: [Self] = [
        connection("DATA on an idle stream") { peer, stream in try peer.send(.data([1], on: stream + 2)) },
        connection("HEADERS on an idle stream") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream + 2))
        },
        connection("HEADERS on a stream of the server") { peer, _ in
            try peer.send(.headers([(":status", "200")], on: 2))
        },
        connection("RST_STREAM on an idle stream") { peer, stream in try peer.send(.reset(8, on: stream + 2)) },
        malformed("DATA before HEADERS", "state of the stream") { peer, stream in try peer.send(.data([1], on: stream))
        },
        other("DATA after the end of the response", nil, .answered, "") { peer, stream in
            try peer.send(
                .headers([(":status", "200")], on: stream),
                .data(Array("ok".utf8), on: stream, ends: true),
                .data([1], on: stream)
            )
        },
        other("HEADERS after the end of the response", nil, .answered, "") { peer, stream in
            try peer.send(
                .headers([(":status", "200")], on: stream),
                .data(Array("ok".utf8), on: stream, ends: true),
                .headers([(":status", "200")], on: stream)
            )
        },
        other("RST_STREAM after the end of the response", nil, .answered, "") { peer, stream in
            try peer.respond(on: stream)
            try peer.send(.reset(0, on: stream), .reset(8, on: stream), .windowUpdate(5, on: stream))
        },
        other("frames and settings of unknown types", nil, .answered, "") { peer, stream in
            try peer.send(.init(0x42, flags: 0xFF, stream: stream, [1, 2, 3]), .settings([(0x99, 7)]))
            try peer.respond(on: stream)
        },
    ]

    /// Field blocks that can't be decompressed (RFC 7541), and padding beyond its frame.
    private static let blocks: [Self] = [
        block("a field of index 0", [0x80]),
        block("a field beyond the tables", [0x88, 0xFF, 0x7F]),
        block("a string longer than its block", [0x88, 0x00, 0x05, 0x61]),
        block("an integer without end", [0xFF] + [UInt8](repeating: 0xFF, count: 20)),
        block("a Huffman string with the EOS symbol", [0x88, 0x00, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x61]),
        block("a larger table than allowed", [0x3F, 0xE1, 0xFF, 0x03, 0x88]),
        block("an empty name", [0x88, 0x00, 0x00, 0x01, 0x78]),
        block("a change of the table after a field", [0x88, 0x20, 0x88]),
        connection("more padding than DATA") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream))
            try peer.send(.init(Kind.data, flags: 8, stream: stream, [9, 1]))
        }.having(.invalidResponse, .answered),
        connection("more padding than HEADERS") { peer, stream in
            try peer.send(.init(Kind.headers, flags: 13, stream: stream, [9, 0x88]))
        },
    ]

    /// Malformed heads (RFC 9113, 8.2 and 8.3).
    private static let heads: [Self] =
        [
            head("no status", "pseudo-header", [("a", "b")]),
            head("two statuses", "twice", [(":status", "200"), (":status", "200")]),
            head("a status with letters", "three-digit", [(":status", "2xx")]),
            head("a status of two digits", "three-digit", [(":status", "20")]),
            head("a status of four digits", "three-digit", [(":status", "2000")]),
            head("a status of 099", "three-digit", [(":status", "099")]),
            head("a pseudo-header field of a request", "pseudo-header", [(":status", "200"), (":path", "/")]),
            head("an unknown pseudo-header field", "pseudo-header", [(":status", "200"), (":a", "b")]),
            head("a pseudo-header field after others", "follows", [("a", "b"), (":status", "200")]),
            head("a name in upper case", "lower case", [(":status", "200"), ("Server", "x")]),
            head("a name with a space", "valid name", [(":status", "200"), ("a b", "x")]),
            head("a response that changes the protocol", "101", [(":status", "101")], endsStream: false),
            head("an interim response that ends the stream", "103", [(":status", "103")]),
        ]
        + [
            ("connection", "close"), ("transfer-encoding", "chunked"), ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"), ("upgrade", "h3"),
        ].map { head("the field '\($0.0)'", "HTTP/1.1 connections", [(":status", "200"), $0]) }
        + ["a\0b", "a\rb", "a\nb"].map { value in
            head(
                "a value with control character \(value.utf8.dropFirst().first ?? 0)",
                "control character",
                [
                    (":status", "200"), ("a", value),
                ]
            )
        }

    /// Bodies that contradict the head, and trailers (RFC 9113, 8.1).
    private static let bodies: [Self] = [
        malformed("less than Content-Length", "Content-Length") { peer, stream in
            try peer.send(.headers([(":status", "200"), ("content-length", "5")], on: stream))
            try peer.send(.data([1, 2], on: stream, ends: true))
        },
        malformed("more than Content-Length", "Content-Length") { peer, stream in
            try peer.send(.headers([(":status", "200"), ("content-length", "1")], on: stream))
            try peer.send(.data([1, 2], on: stream, ends: true))
        },
        head("no body in spite of Content-Length", "Content-Length", [(":status", "200"), ("content-length", "5")]),
        head("a Content-Length that is no number", "Content-Length", [(":status", "200"), ("content-length", "x")]),
        head(
            "two Content-Lengths",
            "Content-Length",
            [
                (":status", "200"), ("content-length", "1"), ("content-length", "2"),
            ]
        ),
        malformed("trailers with a pseudo-header field", "pseudo-header") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream))
            try peer.send(.headers([(":status", "200")], on: stream, ends: true))
        },
        malformed("trailers that don't end the stream", "end the stream") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream))
            try peer.send(.headers([("a", "b")], on: stream))
        },
        other("trailers after a body", nil, .answered, "") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream), .data([0x6F, 0x6B], on: stream))
            try peer.send(.headers([("a", "b")], on: stream, ends: true))
        },
        other("interim responses", nil, .answered, "") { peer, stream in
            try peer.send(.headers([(":status", "100")], on: stream), .headers([(":status", "103")], on: stream))
            try peer.respond(on: stream)
        },
        other("a head beyond the limit", .headTooLarge, .answered, "maximumHeadSize") { peer, stream in
            try peer.send(.headers([(":status", "200"), ("a", String(repeating: "x", count: 9000))], on: stream))
        },
        other("interim responses beyond the limit", .headTooLarge, .answered, "maximumHeadSize") { peer, stream in
            let text = String(repeating: "x", count: 500)
            for _ in 0..<20 { try peer.send(.headers([(":status", "103"), ("link", text)], on: stream)) }
        },
        other("trailers beyond the limit", .headTooLarge, .answered, "maximumHeadSize") { peer, stream in
            try peer.send(.headers([(":status", "200")], on: stream))
            let text = String(repeating: "x", count: 9000)
            try peer.send(.headers([("a", text)], on: stream, ends: true))
        },
        other("a head far beyond the limit", .headTooLarge, .maybeProcessed, "maximumHeadSize") { peer, stream in
            let text = String(repeating: "x", count: 16_000)
            try peer.send(.init(Kind.headers, stream: stream, LabHTTP2Frame.block([(":status", "200"), ("a", text)])))
            for _ in 0..<3 {
                try peer.send(.init(Kind.continuation, stream: stream, LabHTTP2Frame.block([("a", text)])))
            }
        },
    ]

    /// RST_STREAM frames with each code (RFC 9113, 7), before and within the response.
    private static let resets: [Self] =
        ([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 99] as [UInt32]).map { code in
            other("RST_STREAM of code \(code)", .connectionLost, .maybeProcessed, "reset the stream") { peer, stream in
                try peer.send(.reset(code, on: stream))
            }
        } + [
            other("RST_STREAM within the response", .bodyTruncated, .answered, "CANCEL") { peer, stream in
                try peer.send(.headers([(":status", "200")], on: stream), .data([1], on: stream), .reset(8, on: stream))
            },
            other("a refusal within the response", .bodyTruncated, .answered, "REFUSED_STREAM") { peer, stream in
                try peer.send(.headers([(":status", "200")], on: stream), .data([1], on: stream), .reset(7, on: stream))
            },
            other("a refused request is resent", nil, .answered, "") { peer, stream in
                try peer.send(.reset(7, on: stream))
                try peer.respond(on: peer.readRequest())
            },
            other("a request that is always refused", .connectionLost, .refusedUnprocessed, "REFUSED_STREAM") {
                peer,
                stream in
                try peer.send(.reset(7, on: stream))
                for _ in 0..<16 { try peer.send(.reset(7, on: peer.readRequest())) }
            },
        ]

    /// Ends of the connection.
    private static let ends: [Self] = [
        other("GOAWAY before the request was processed", nil, .answered, "") { peer, _ in try peer.send(.goAway(0)) },
        other("GOAWAY with an error", .connectionLost, .maybeProcessed, "ENHANCE_YOUR_CALM: slow down") {
            peer,
            stream in
            try peer.send(.goAway(stream, 11, "slow down"))
            try peer.close()
        },
        other("GOAWAY before the response", nil, .answered, "") { peer, stream in
            try peer.send(.goAway(stream))
            try peer.respond(on: stream)
        },
        connection("a second GOAWAY with a higher number") { peer, stream in
            try peer.send(.goAway(stream), .goAway(stream + 2))
        },
        connection("GOAWAY with the number of a stream of the server") { peer, _ in try peer.send(.goAway(2)) },
        other("the connection is closed", .connectionLost, .maybeProcessed, "closed by") { peer, _ in
            try peer.close()
        },
        other("the connection is closed within a frame", .connectionLost, .maybeProcessed, "closed by") { peer, _ in
            try peer.send(bytes: [0, 0, 9, 1])
            try peer.close()
        },
        other("the connection is closed within the response", .bodyTruncated, .answered, "within the response") {
            peer,
            stream in
            try peer.send(.headers([(":status", "200")], on: stream), .data([1], on: stream))
            try peer.close()
        },
    ]

    /// Frames that only keep the client busy.
    private static let floods: [Self] = [
        flood("PING", "PING") { _ in .init(Kind.ping, [UInt8](repeating: 0, count: 8)) },
        flood("SETTINGS", "SETTINGS") { _ in .settings() },
        flood("PRIORITY", "PRIORITY") { .init(Kind.priority, stream: $0, [0, 0, 0, 0, 1]) },
        flood("empty DATA", "empty DATA") { .data([], on: $0) }.having(.invalidResponse, .answered),
        flood("RST_STREAM", "RST_STREAM") { _ in .reset(8, on: 1) },
        connection("a flood of CONTINUATION frames", "CONTINUATION") { peer, stream in
            try peer.send(.init(Kind.headers, stream: stream, [0x88]))
            let frame = LabHTTP2Frame(Kind.continuation, stream: stream)
            for _ in 0..<200 { try peer.send([LabHTTP2Frame](repeating: frame, count: 100)) }
        },
    ]

    private static func flood(
        _ name: String,
        _ reason: String,
        _ frame: @escaping @Sendable (UInt32) -> LabHTTP2Frame
    ) -> Self {
        connection("a flood of \(name) frames", reason) { peer, stream in
            if name == "empty DATA" { try peer.send(.headers([(":status", "200")], on: stream)) }
            if name == "RST_STREAM" { try peer.respond(on: 1) }
            for _ in 0..<200 { try peer.send([LabHTTP2Frame](repeating: frame(stream), count: 100)) }
        }.having(name == "RST_STREAM" ? nil : .invalidResponse, .maybeProcessed)
    }

    private func having(_ code: HTTPError.Code?, _ processing: Processing) -> Self {
        .init(testDescription: testDescription, code: code, processing: processing, reason: reason, action: action)
    }
}
