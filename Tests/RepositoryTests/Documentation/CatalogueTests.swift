import Foundation
import HTTPLab
import NetworkLab
import Testing

/// The documentation catalogues of the library products, which `scripts/docs` builds.
@Suite struct CatalogueTests {
    /// Every page of every catalogue, relative to the repository's root.
    private static let pages: [String] = products.flatMap { product in
        let directory = "Sources/\(product)/\(product).docc"
        return ((try? Repository.names(in: directory)) ?? []).map { "\(directory)/\($0)" }
    }

    private static let products: [String] = {
        let package = try? Repository.read("Package.swift")
        return package?.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) } ?? []
    }()

    @Test func `each library product has a catalogue with a landing page`() {
        #expect(Self.products.count == 13)
        for product in Self.products {
            #expect(Self.pages.contains("Sources/\(product)/\(product).docc/\(product).md"))
        }
    }

    @Test(arguments: pages)
    func `each block of Swift in a catalogue is part of a program under Examples`(page: String) throws {
        let program = try Repository.read("Examples/Guides/main.swift")
        let blocks = try MarkdownPage(page).blocks(of: "swift")
        for block in blocks { #expect(program.contains(block.text), "\(block.text)") }
        let isOverview = page.hasSuffix("/Reachability.md") || page.hasSuffix("/NetworkClient.md")
        #expect(blocks.isEmpty == isOverview)
    }

    @Test func `the code of the article on tests runs without a network`() throws {
        let program = BuiltProducts.path(of: "Guides")
        #expect(try LabProcess.run(program, ["test"]).output == "Ann\nunacceptableStatus 404\n")
        let folder = try LabFolder()
        let script = """
            found: Ann
            missing: unacceptableStatus {"error": "no such user"}
            offline: 0
            online: 201 2
            cancelled: cancelled
            downloaded: 4 3

            """
        #expect(try LabProcess.run(program, ["script", "\(folder.path)/file"]).output == script)
        #expect(try LabProcess.run(program, ["form"]).output.hasPrefix("multipart/form-data; boundary="))
    }
}
