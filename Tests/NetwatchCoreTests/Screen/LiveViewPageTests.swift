import FoundationEssentials
import NetwatchCore
import Testing

@Suite struct LiveViewPageTests {
    @Test func `the page's picture is the screen`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/live-view.md"), encoding: .utf8)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = try #require(lines.firstIndex(of: "```"))
        let end = try #require(lines[(start + 1)...].firstIndex(of: "```"))
        let shown = Story.wifi().view.frame(.init(columns: 80, rows: 24)).lines.map(\.text)
        #expect(lines[(start + 1)..<end].filter { !$0.isEmpty } == shown.filter { !$0.isEmpty })
    }
}
