import HTTPSerialization
import HTTPTypes
import Testing

/// Tests of valid and invalid boundaries.
struct MultipartBoundaryTests {
    @Test(arguments: ["", "a b", "a;b", "a\"", "a\r\nX: y", "ä", String(repeating: "a", count: 71)])
    func `an invalid boundary is rejected with the rules for a valid one`(text: String) {
        #expect {
            try MultipartForm().encoded(boundary: text)
        } throws: {
            "\($0)".contains("is not a valid boundary: use 1 to 70 letters, digits")
        }
    }

    @Test(arguments: ["a", "'+_-.09azAZ", String(repeating: "a", count: 70)])
    func `a valid boundary is used unchanged`(text: String) throws {
        #expect(try MultipartForm().encoded(boundary: text).boundary == text)
    }

    @Test(arguments: ["--cut", "--cut--", "text\r\n--cut\r\nmore", "-----cut", "a--cut", "\n--cutting"])
    func `a boundary that occurs in a part is rejected with the part's number`(contents: String) {
        let form: MultipartForm = [.text("cut", name: "a"), .text(contents, name: "b")]
        #expect {
            try form.encoded(boundary: "cut")
        } throws: {
            "\($0)" == "the boundary 'cut' occurs in part 2 of the form: use another one"
        }
    }

    @Test func `a boundary that occurs in a part's fields is refused, with the part's number`() throws {
        let field = try #require(HTTPField.Name("--cut--"))
        let parts: [MultipartPart] = [.part(headers: [field: "value"], body: []), .text("", name: "--cut")]
        for part in parts {
            #expect {
                try MultipartForm([.text("cut", name: "cut"), part]).encoded(boundary: "cut")
            } throws: {
                "\($0)" == "the boundary 'cut' occurs in part 2 of the form: use another one"
            }
        }
    }

    @Test(arguments: ["", "cut", "-cut", "--cu", "-\r\n-cut", "--Cut", "--cu--cu"])
    func `contents that only resemble the boundary are accepted`(contents: String) throws {
        let form: MultipartForm = [.text(contents, name: "b")]
        #expect(try form.encoded(boundary: "cut").pieces.count == 1)
    }
}
