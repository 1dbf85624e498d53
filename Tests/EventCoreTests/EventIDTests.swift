import EventCore
import Testing

@Suite struct EventIDTests {
    @Test(arguments: [
        EventID(run: 0, sequence: 0), .init(run: 0xF3A2, sequence: 42), .init(run: .max, sequence: .max),
    ])
    func `an id is read as it was written`(id: EventID) throws {
        #expect(try EventID(parsing: id.description) == id)
    }

    @Test func `an id has 16 hexadecimal digits, a full stop and a decimal number`() {
        #expect(EventID(run: 0xF3A2, sequence: 42).description == "000000000000f3a2.42")
    }

    @Test(arguments: [
        ("", "the '.' is missing"), ("00f3a2b1c4d5e6f7", "the '.' is missing"),
        ("00F3A2B1C4D5E6F7.1", "16 lowercase"), ("f3a2.1", "16 lowercase"), ("+0f3a2b1c4d5e6f7.1", "16 lowercase"),
        ("00f3a2b1c4d5e6f7.", "decimal"), ("00f3a2b1c4d5e6f7.-1", "decimal"), ("00f3a2b1c4d5e6f7.01", "decimal"),
        ("00f3a2b1c4d5e6f7.18446744073709551616", "decimal"), ("00f3a2b1c4d5e6f7.1.2", "decimal"),
    ])
    func `what is no id is refused with the form of one`(text: String, words: String) throws {
        let error = #expect(throws: EventIDError.self) { try EventID(parsing: text) }
        #expect(try #require(error).description.contains(words))
        #expect(try #require(error).description.hasSuffix("such as 00f3a2b1c4d5e6f7.42"))
    }
}
