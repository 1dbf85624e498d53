import HTTPLab
import NetworkClient
import Testing

/// Forms as third-party servers parse them: the result is what was sent, byte for byte.
@Suite(.timeLimit(.minutes(5)))
struct FormReaderTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func read(_ form: MultipartForm, by reader: FormReader) async throws -> [FormReader.Part] {
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(reader.port)/", configuration: .lasting)
        return try await session.upload("form", from: .multipart(form)).decoded()
    }

    /// Names that try to break out of the quotes, and their quoted forms.
    private static let names = [
        ("plain", "plain"), ("two  words", "two  words"), ("tab\there", "tab\there"), ("quote\"d\"", "quote%22d%22"),
        ("line\r\nX-Evil: 1\r\n\r\nbody", "line%0D%0AX-Evil: 1%0D%0A%0D%0Abody"), ("\n", "%0A"), ("nul\0", "nul%00"),
        ("semi;colon=1; name=other", "semi;colon=1; name=other"), ("emoji 😀 caf\u{E9} 漢字", "emoji 😀 caf\u{E9} 漢字"),
        ("end\\", "end%5C"), ("\\\\two", "%5C\\two"), ("pair\\\"", "pair\\%22"), ("%22", "%22"), ("a[b][]", "a[b][]"),
        ("=?utf-8?q?x?= word", "=?utf-8?q?x?= word"), ("'single'", "'single'"), ("<x>&amp;", "<x>&amp;"),
    ]

    /// Names as Python parses them: a quoted pair becomes its second half, and apparent encoded words (RFC 2047) are
    /// decoded.
    private static let readOtherwise = [
        "%5C\\two": "%5Ctwo", "pair\\%22": "pair%22", "=?utf-8?q?x?= word": "x word",
    ]

    private static func part(_ name: String, _ file: String?, _ type: String?, _ bytes: [UInt8]) -> FormReader.Part {
        .init(
            name: FormReader.hex(name.utf8),
            fileName: file.map { FormReader.hex($0.utf8) },
            type: type,
            contents: FormReader.hex(bytes)
        )
    }

    private var hostile: MultipartForm {
        .init(Self.names.map { .bytes(Array($0.0.utf8), name: $0.0, fileName: $0.0, contentType: "image/png") })
    }

    @Test(.enabled(if: FormReader.hasPython, "no python3: run scripts/setup --for-tests"))
    func `Python reads names that were made to break out`() async throws {
        let parts = try await read(hostile, by: .python())
        let expected = Self.names.map { name, escaped in
            let read = Self.readOtherwise[escaped] ?? escaped
            return Self.part(read, read, "image/png", Array(name.utf8))
        }
        #expect(parts == expected)
    }

    @Test(.enabled(if: FormReader.hasPerl, "no CGI.pm: run scripts/setup --for-tests"))
    func `Perl reads names that were made to break out`() async throws {
        let parts = try await read(hostile, by: .perl(in: folder))
        let expected = Self.names.map { name, escaped in Self.part(escaped, escaped, "image/png", Array(name.utf8)) }
        #expect(Set(parts) == Set(expected))
        #expect(parts.count == expected.count)
    }

    /// Contents that look like framing, of every byte, and of none; and a hundred parts.
    private func contents() throws -> (form: MultipartForm, expected: [FormReader.Part]) {
        let all = (0..<1_024).map { UInt8(truncatingIfNeeded: $0) }
        let texts = ["", "\r\n", "\n", "\r", "--", "--\r\n", "\r\n--netwatch", " trailing \r\n\r\n", "caf\u{E9} 😀"]
        var form = MultipartForm(texts.enumerated().map { .text($1, name: "text \($0)") })
        var expected = texts.enumerated().map { Self.part("text \($0)", nil, nil, Array($1.utf8)) }
        form.append(.bytes(all, name: "all", fileName: "all.bin"))
        expected.append(Self.part("all", "all.bin", "application/octet-stream", all))
        form.append(.file(try folder.write("photo caf\u{E9}.jpg", all + all), name: "photo"))
        expected.append(Self.part("photo", "photo caf\u{E9}.jpg", "image/jpeg", all + all))
        form.append(.file(try folder.write("empty.txt", ""), name: "empty"))
        expected.append(Self.part("empty", "empty.txt", "text/plain", []))
        for number in 0..<100 {
            form.append(.bytes([UInt8(number)], name: "part", fileName: "f\(number)", contentType: "a/b"))
            expected.append(Self.part("part", "f\(number)", "a/b", [UInt8(number)]))
        }
        return (form, expected)
    }

    @Test(.enabled(if: FormReader.hasPython, "no python3: run scripts/setup --for-tests"))
    func `Python parses the contents of the parts`() async throws {
        let (form, expected) = try contents()
        #expect(try await read(form, by: .python()) == expected)
    }

    @Test(.enabled(if: FormReader.hasPerl, "no CGI.pm: run scripts/setup --for-tests"))
    func `Perl parses the contents of the parts`() async throws {
        let (form, expected) = try contents()
        let parts = try await read(form, by: .perl(in: folder))
        #expect(Set(parts) == Set(expected))
        #expect(parts.filter { $0.name == FormReader.hex("part".utf8) } == expected.suffix(100))
        #expect(parts.count == expected.count)
    }

    @Test(.enabled(if: FormReader.hasPython, "no python3: run scripts/setup --for-tests"))
    func `Python reads a form in chunks, and one without parts`() async throws {
        let reader = try FormReader.python()
        let stream = MultipartStream.once(WatchedSequence([[1, 2], [3]]))
        let form: MultipartForm = [.text("x", name: "a"), .stream(stream, name: "b", fileName: "b.bin")]
        let expected = [
            Self.part("a", nil, nil, [120]), Self.part("b", "b.bin", "application/octet-stream", [1, 2, 3]),
        ]
        #expect(try await read(form, by: reader) == expected)
        #expect(try await read([], by: reader) == [])
    }
}
