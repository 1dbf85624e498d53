import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of a form's framing and length.
struct MultipartFormTests {
    /// Returns the body as text, if all parts are bytes.
    private func text(_ form: MultipartForm, boundary: String = "B") throws -> String {
        let bytes = try form.encoded(boundary: boundary).pieces.flatMap { piece -> [UInt8] in
            if case .bytes(let bytes) = piece { bytes } else { Array("?".utf8) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `parts are separated by boundary lines in order`() throws {
        let form: MultipartForm = [.text("Ann", name: "user"), .bytes([0x21], name: "mark", fileName: "a.png")]
        #expect(
            try text(form) == """
                --B\r\nContent-Disposition: form-data; name="user"\r\n\r\nAnn\r\n\
                --B\r\nContent-Disposition: form-data; name="mark"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n!\r\n\
                --B--\r\n
                """
        )
        #expect(try form.encoded(boundary: "B").contentType == "multipart/form-data; boundary=B")
    }

    @Test func `a form without parts consists of the closing line`() throws { #expect(try text([]) == "--B--\r\n") }

    @Test func `an empty part keeps its lines`() throws {
        let expected = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--B--\r\n"
        #expect(try text([.text("", name: "a")]) == expected)
        #expect(try text([.bytes([], name: "a")]) == expected)
    }

    @Test func `custom fields are sent unchanged and without others`() throws {
        let headers: HTTPFields = [.contentDisposition: "attachment", .contentType: "a/b", .contentLanguage: "de"]
        let expected = """
            --B\r\nContent-Disposition: attachment\r\nContent-Type: a/b\r\nContent-Language: de\r\n\r\nx\r\n--B--\r\n
            """
        #expect(try text([.part(headers: headers, body: [120])]) == expected)
    }

    @Test func `the content type follows from the file name unless it is given`() throws {
        #expect(
            try text([.text("{}", name: "a", contentType: "application/json")]).contains("Type: application/json\r\n")
        )
        #expect(try text([.bytes([1], name: "a", fileName: "x.pdf", contentType: "a/b")]).contains("Type: a/b\r\n"))
        #expect(try text([.bytes([1], name: "a", fileName: "x")]).contains("Type: application/octet-stream\r\n"))
        #expect(try !text([.bytes([1], name: "a")]).contains("Type:"))
        #expect(
            try text([.file("/home/ann/x.pdf", name: "a")]).contains(
                "filename=\"x.pdf\"\r\nContent-Type: application/pdf"
            )
        )
        #expect(
            try text([.file("/x.pdf", name: "a", fileName: "y")]).contains(
                "filename=\"y\"\r\nContent-Type: application/o"
            )
        )
    }

    @Test func `small parts are merged, large ones and files are not`() throws {
        let form: MultipartForm = [
            .text("1", name: "a"), .text("2", name: "b"), .bytes([UInt8](repeating: 0, count: 5_000), name: "c"),
            .file("/tmp/x", name: "d"), .text("3", name: "e"),
        ]
        let kinds = try form.encoded(boundary: "B").pieces.map { piece in
            switch piece {
            case .bytes(let bytes): bytes.count == 5_000 ? "large" : "small"
            case .file(let path): path
            case .stream: "stream"
            }
        }
        #expect(kinds == ["small", "large", "small", "/tmp/x", "small"])
    }

    @Test(arguments: 0..<40)
    func `the length equals the number of bytes sent`(count: Int) throws {
        let parts = (0..<count).map { MultipartPart.bytes([UInt8](repeating: 7, count: $0 * 300), name: "part\($0)") }
        let body = try MultipartForm(parts).encoded(boundary: "B")
        let bytes = try text(.init(parts)).utf8.count
        #expect(body.length { _ in 0 } == Int64(bytes))
    }

    @Test func `the length includes files and streams, and is unknown if a stream's is`() throws {
        let empty = AsyncStream<[UInt8]> { $0.finish() }
        var form: MultipartForm = [.file("/a", name: "a"), .stream(.once(empty, length: 30), name: "b")]
        let frame = try #require(try form.encoded(boundary: "B").length { _ in 0 }) - 30
        var asked: [String] = []
        let length = try form.encoded(boundary: "B").length { path in
            asked.append(path)
            return 1_000
        }
        #expect(length == frame + 1_030)
        form.append(.stream(.once(empty), name: "c"))
        form.append(.file("/b", name: "d"))
        asked = []
        let unknown = try form.encoded(boundary: "B").length { path in
            asked.append(path)
            return 1
        }
        #expect(unknown == nil)
        #expect(asked == ["/a", "/b"])
    }

    @Test func `a length that overflows is unknown`() throws {
        let body = try MultipartForm([.file("/a", name: "a"), .file("/b", name: "b")]).encoded(boundary: "B")
        #expect(body.length { _ in .max } == nil)
    }

    @Test func `a form is replayable unless a stream is not`() {
        let stream = AsyncStream<[UInt8]> { $0.finish() }
        #expect(MultipartForm([.text("", name: "a"), .file("/a", name: "b")]).isReplayable)
        #expect(MultipartForm([.stream(.replayable { stream }, name: "a")]).isReplayable)
        #expect(!MultipartForm([.text("", name: "a"), .stream(.once(stream), name: "a")]).isReplayable)
    }
}
