import Testing

@testable import HTTPSerialization

/// Tests of the media types by file name.
struct FileMediaTypeTests {
    @Test(arguments: [
        ("photo.jpg", "image/jpeg"), ("PHOTO.JPG", "image/jpeg"), ("/a.b/page.html", "text/html"),
        ("archive.tar.gz", "application/gzip"), ("data.json", "application/json"), ("song.mp3", "audio/mpeg"),
        ("film.mp4", "video/mp4"), ("font.woff2", "font/woff2"), ("table.csv", "text/csv"),
        ("sheet.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ])
    func `the type follows from the extension`(name: String, type: String) {
        #expect(FileMediaType.type(ofFileNamed: name) == type)
    }

    @Test(arguments: ["", "README", ".png", "/dir.png/file", "a.", "a.unheard", "/", "a.png/", "a.p\u{0}ng"])
    func `a name without a known extension is application/octet-stream`(name: String) {
        #expect(FileMediaType.type(ofFileNamed: name) == "application/octet-stream")
    }

    @Test func `the table has some 150 valid types and no duplicate extension`() {
        let lines = FileMediaType.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let endings = lines.flatMap { $0.dropFirst() }
        #expect(lines.count >= 145)
        #expect(Set(endings).count == endings.count)
        for line in lines {
            #expect(line.count >= 2 && MediaType(line[0])?.essence == line[0], "\(line)")
        }
        #expect(endings.allSatisfy { $0 == $0.lowercased() && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
    }
}
