import Testing

@testable import NetworkClientCore

/// Tests of frames that are parsed from bytes, however they are divided.
@Suite struct WebSocketParserTests {
    /// A part of the input, with the bytes of its payload.
    private enum Part: Equatable {
        case begin(isText: Bool, isCompressed: Bool)
        case payload([UInt8])
        case end
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClosure)
    }

    /// Parses bytes in pieces of a size; neighbouring payloads are joined.
    private static func parse(
        _ bytes: [UInt8],
        pieces size: Int = .max,
        limit: Int = 1 << 20,
        allowsCompression: Bool = false
    ) throws(WebSocketFault) -> [Part] {
        var parser = WebSocketParser(maximumMessageSize: limit, allowsCompression: allowsCompression)
        var parts: [Part] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            while true {
                let result = piece.withUnsafeBytes { input in
                    Result { () throws(WebSocketFault) in try parser.next(input) }
                }
                let (consumed, event) = try result.get()
                if let event { add(event, piece[..<consumed], to: &parts) }
                piece.removeFirst(consumed)
                if event == nil { break }
            }
            #expect(piece.isEmpty)
        }
        return parts
    }

    private static func add(_ event: WebSocketParser.Event, _ consumed: ArraySlice<UInt8>, to parts: inout [Part]) {
        switch event {
        case .begin(let isText, let isCompressed): parts.append(.begin(isText: isText, isCompressed: isCompressed))
        case .payload(let count):
            if case .payload(let bytes)? = parts.last {
                parts[parts.count - 1] = .payload(bytes + consumed.suffix(count))
            } else {
                parts.append(.payload(Array(consumed.suffix(count))))
            }
        case .end: parts.append(.end)
        case .ping(let payload): parts.append(.ping(payload))
        case .pong(let payload): parts.append(.pong(payload))
        case .close(let closure): parts.append(.close(closure))
        }
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `a message, its fragments and the control frames between them are parsed, however they are divided`(
        size: Int
    ) throws {
        let bytes: [UInt8] =
            [0x01, 2, 0x61, 0x62, 0x89, 1, 0x21, 0x00, 0, 0x80, 1, 0x63, 0x8A, 0, 0x82, 126, 0, 126]
            + [UInt8](repeating: 7, count: 126) + [0x88, 4, 0x03, 0xE9, 0x62, 0x79]
        let parts: [Part] = [
            .begin(isText: true, isCompressed: false), .payload([0x61, 0x62]), .ping([0x21]), .payload([0x63]), .end,
            .pong([]), .begin(isText: false, isCompressed: false), .payload([UInt8](repeating: 7, count: 126)), .end,
            .close(.init(.goingAway, reason: "by")),
        ]
        #expect(try Self.parse(bytes, pieces: size) == parts)
    }

    @Test func `what follows a Close frame is ignored`() throws {
        #expect(try Self.parse([0x88, 0, 0xFF, 0xFF, 0xFF]) == [.close(.init(.noStatus))])
    }

    @Test(
        arguments: [
            [0x83], [0x8B], [0x91], [0xA1], [0xC1], [0xC9], [0x81, 0x80], [0x09, 0], [0x89, 126], [0x80, 0], [0x00, 0],
            [0x01, 0, 0x81, 0], [0x81, 126, 0, 125], [0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x88, 1, 0], [0x88, 2, 0x03, 0xED], [0x88, 2, 0, 0],
        ] as [[UInt8]]
    )
    func `a violation is found at its first byte`(bytes: [UInt8]) {
        let fault = #expect(throws: WebSocketFault.self) { _ = try Self.parse(bytes, pieces: 1) }
        #expect(fault?.code == .protocolError)
    }

    @Test func `only the first frame of a compressed message is marked as such`() throws {
        let parts = try Self.parse([0x41, 1, 9, 0x80, 1, 8], allowsCompression: true)
        #expect(parts == [.begin(isText: true, isCompressed: true), .payload([9, 8]), .end])
        #expect(throws: WebSocketFault.self) { _ = try Self.parse([0x41, 0, 0xC0], allowsCompression: true) }
    }

    @Test func `a message that is too large is refused by its headers`() throws {
        #expect(try Self.parse([0x82, 5, 1, 2, 3, 4, 5], limit: 5).last == .end)
        for bytes in [
            [0x82, 6], [0x02, 3, 1, 2, 3, 0x80, 3], [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
        ] {
            let fault = #expect(throws: WebSocketFault.self) { _ = try Self.parse(bytes as [UInt8], limit: 5) }
            #expect(fault?.code == .messageTooLarge)
        }
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 70_000])
    func `a header has the shortest length, and masking twice gives the payload`(length: Int) {
        let header = WebSocketFrame(.binary, length: length, isCompressed: true).encoded(maskedBy: 0x0403_0201)
        #expect(header.count == 6 + (length < 126 ? 0 : length < 65_536 ? 2 : 8))
        #expect(header[0] == 0xC2 && header.suffix(4) == [1, 2, 3, 4] && header[1] & 0x80 != 0)
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var masked = payload
        masked.withUnsafeMutableBytes { WebSocketFrame.mask($0, with: 0x0403_0201) }
        #expect(masked == payload.enumerated().map { $1 ^ header.suffix(4)[header.count - 4 + $0 % 4] })
        masked.withUnsafeMutableBytes { WebSocketFrame.mask($0, with: 0x0403_0201) }
        #expect(masked == payload)
    }

    // MARK: Text

    private static func accepts(_ bytes: [UInt8], pieces size: Int) -> Bool {
        var validator = UTF8Validator()
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            guard piece.withUnsafeBytes({ validator.accepts($0) }) else { return false }
        }
        return validator.isComplete
    }

    @Test func `UTF-8 is valid where the standard library says so, however it is divided`() {
        var generator = SystemRandomNumberGenerator()
        let leads: [UInt8] = [0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]
        let others: [UInt8] = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for _ in 0..<20_000 {
            let lead = leads.randomElement(using: &generator) ?? 0
            let tail = (0..<Int.random(in: 0...3)).compactMap { _ in others.randomElement(using: &generator) }
            let bytes = [UInt8](repeating: 0x61, count: .random(in: 0...9)) + [lead] + tail
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            #expect(Self.accepts(bytes, pieces: .max) == isValid, "\(bytes)")
            #expect(Self.accepts(bytes, pieces: 1) == isValid, "\(bytes)")
        }
    }

    @Test func `invalid text is refused before its end`() throws {
        var assembler = WebSocketAssembler(maximumSize: 100)
        assembler.begin(isText: true)
        let fault = #expect(throws: WebSocketFault.self) {
            try [UInt8]([0x61, 0xED, 0xA0]).withUnsafeBytes { try assembler.append($0) }
        }
        #expect(fault?.code == .invalidPayload)
    }

    @Test(arguments: [[3], [1, 2], [2, 1]])
    func `invalid text before the limit is the fault, however the payload is divided`(sizes: [Int]) {
        var (assembler, rest) = (WebSocketAssembler(maximumSize: 2), [0x61, 0xFF, 0x61] as ArraySlice<UInt8>)
        assembler.begin(isText: true)
        let fault = #expect(throws: WebSocketFault.self) {
            for size in sizes {
                try Array(rest.prefix(size)).withUnsafeBytes { try assembler.append($0) }
                rest = rest.dropFirst(size)
            }
        }
        #expect(fault?.code == .invalidPayload)
    }

    @Test func `a message is assembled up to its limit`() throws {
        var assembler = WebSocketAssembler(maximumSize: 4)
        for text in ["", "a", "éé"] {
            assembler.begin(isText: true)
            try Array(text.utf8).withUnsafeBytes { try assembler.append($0) }
            let message = try assembler.end()
            #expect(message == .text(text))
        }
        assembler.begin(isText: false)
        try [UInt8]([1, 2, 3]).withUnsafeBytes { try assembler.append($0) }
        let fault = #expect(throws: WebSocketFault.self) {
            try [UInt8]([4, 5]).withUnsafeBytes { try assembler.append($0) }
        }
        #expect(fault?.code == .messageTooLarge)
    }
}
