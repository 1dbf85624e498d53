import Testing

/// Compares the Swift code of pages with the programs under Examples, which other tests run.
@Suite struct ExamplePagesTests {
    /// The pages, each with the programs that its code is from.
    private static let pages: [String: [String]] = [
        "docs/client-transport.md": ["RunningService"],
        "docs/cache.md": ["Guides"],
        "docs/cookies.md": ["Guides"],
        "docs/downloads.md": ["Guides"],
        "docs/events.md": ["Guides"],
        "docs/first-monitor.md": ["FirstProgram", "OtherWays"],
        "docs/first-upload.md": ["FirstRequest", "SteadyUpload"],
        "docs/http2.md": ["Guides"],
        "docs/http-errors.md": ["FirstRequest"],
        "docs/interceptors.md": ["SigningRequests"],
        "docs/observability.md": ["RunningService"],
        "docs/outbox.md": ["DurableReadings"],
        "docs/parameters.md": ["Guides"],
        "docs/porting.md": ["PortedPrograms/WeatherStation.swift", "PortedPrograms/PhotoAlbum.swift"],
        "docs/resource-loader.md": ["Guides"],
        "docs/server-sent-events.md": ["FollowingEvents"],
        "docs/sessions.md": ["RunningService"],
        "docs/testing.md": ["Guides"],
        "docs/validation.md": ["Guides"],
        "docs/websocket.md": ["ExchangingMessages"],
    ]

    @Test(arguments: pages.keys.sorted())
    func `each block of Swift is part of a program under Examples`(page: String) throws {
        let programs = try #require(Self.pages[page]).map { name in
            try Repository.read(name.hasSuffix(".swift") ? "Examples/\(name)" : "Examples/\(name)/main.swift")
        }
        let blocks = try MarkdownPage(page).blocks(of: "swift")
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(programs.contains { $0.contains(block.text) }, "\(block.text)") }
    }

    @Test func `each expression of the porting table is part of a program under Examples`() throws {
        let source = try Repository.read("Examples/ComingFrom/main.swift")
        let table = try #require(try MarkdownPage("docs/porting.md").tables.first)
        #expect(table.count == 41)
        for row in table.dropFirst(2) {
            for span in try #require(row.last).matches(of: /`([^`]+)`/).map({ String($0.1) }) {
                #expect(source.contains(span) || Self.serializers.contains(span), "\(span)")
            }
        }
    }

    /// The names in the table that the example does not call.
    private static let serializers: Set = ["decoded", "bytes", "json", "EventMonitor"]
}
