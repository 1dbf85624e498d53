import Testing

/// The page about the statements of the MQTT specification.
@Suite struct ConformanceTests {
    @Test func `every statement that the page lists has its number in the tests that it names`() throws {
        let files = ["Codec": "CodecTests", "Session": "SessionTests"]
        let texts = try files.mapValues { try Repository.read("Tests/MQTTCoreTests/\($0).swift") }
        let page = try Repository.read("docs/mqtt-conformance.md")
        let rows = page.matches(of: /\| MQTT-([0-9.]+-[0-9]+) \|.*\| (\w+) \|/)
        #expect(rows.count > 50)
        for row in rows {
            let text = try #require(texts[String(row.2)])
            let pattern = try Regex("[^0-9.]" + row.1.replacing(".", with: "\\.") + "[^0-9]")
            #expect(text.contains(pattern), "MQTT-\(row.1) in the tests of \(row.2)")
        }
    }
}
