import Foundation
import Testing

/// The pages under docs/: their links, their tables and their index.
@Suite struct DocumentationTests {
    /// Every Markdown page of the documentation, relative to the repository's root.
    static let pages: [String] = {
        let directories = ["docs", "docs/decisions"]
        let pages = directories.flatMap { directory in
            ((try? Repository.names(in: directory)) ?? []).map { "\(directory)/\($0)" }
        }
        return pages.filter { $0.hasSuffix(".md") } + ["SECURITY.md"]
    }()

    @Test(arguments: pages)
    func `every link within the repository leads to a file and a heading`(page: String) throws {
        let text = try MarkdownPage(page)
        for link in text.links where !link.contains("://") && !link.hasPrefix("mailto:") {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? page : Self.resolve(parts[0], from: page)
            let path = Repository.root.appending(path: target).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
            if parts.count == 2, target.hasSuffix(".md") {
                #expect(try MarkdownPage(target).anchors.contains(parts[1]), "\(link)")
            }
        }
    }

    @Test(arguments: pages)
    func `every table has a head, and as many cells in each row`(page: String) throws {
        for table in try MarkdownPage(page).tables {
            let isHeaded = table.count > 1 && table[1].allSatisfy { $0.wholeMatch(of: /:?-+:?/) != nil }
            #expect(isHeaded, "\(table[0]): a table starts without a head, so a blank line may have cut it")
            for row in table { #expect(row.count == table[0].count, "\(row)") }
        }
    }

    @Test func `the index lists every page once`() throws {
        let links = try MarkdownPage("docs/README.md").links.map { Self.resolve($0, from: "docs/README.md") }
        let pages = Self.pages.filter { $0 != "docs/README.md" }
        #expect(pages.count > 20)
        for page in pages { #expect(links.count { $0 == page } == 1, "\(page)") }
    }

    /// A relative link as a path from the repository's root.
    private static func resolve(_ link: String, from page: String) -> String {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}
