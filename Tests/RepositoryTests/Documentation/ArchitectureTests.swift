import Foundation
import Testing

/// The page about the architecture: the functions that it names exist, and its walks stay short.
@Suite struct ArchitectureTests {
    /// The walks, with the largest number of functions and files of each.
    private static let limits = [
        "From a netlink message to your callback": (functions: 50, files: 25),
        "From a key to the screen": (functions: 30, files: 15),
        "What `netwatch status` does": (functions: 35, files: 20),
        "An event and its subscribers": (functions: 30, files: 15),
        "An event and the journal": (functions: 30, files: 15),
        "A GET and its value": (functions: 45, files: 18),
        "A request that waits at the gate and is released": (functions: 30, files: 15),
        "A retry after a reset": (functions: 30, files: 15),
        "A resumed download": (functions: 30, files: 15),
        "A Digest challenge": (functions: 30, files: 15),
        "A redirect": (functions: 30, files: 15),
        "A stored response": (functions: 20, files: 12),
    ]

    @Test func `each walk has its limits`() throws {
        #expect(Set(try ArchitecturePage().walks.map(\.title)) == Set(Self.limits.keys))
    }

    @Test func `every function that a walk names is declared in the file that it names`() throws {
        for walk in try ArchitecturePage().walks {
            for step in walk.steps {
                let source = try SwiftSource(step.file)
                for function in step.functions { #expect(source.declares(function), "\(function) in \(step.file)") }
            }
        }
    }

    @Test func `no walk exceeds its limits`() throws {
        for walk in try ArchitecturePage().walks {
            let limit = try #require(Self.limits[walk.title])
            #expect(Set(walk.steps.flatMap(\.functions)).count <= limit.functions, "\(walk.title)")
            #expect(Set(walk.steps.map(\.file)).count <= limit.files, "\(walk.title)")
            #expect(walk.steps.count > 10, "\(walk.title)")
        }
    }

    @Test func `the drawing shows the dependencies of the manifest`() throws {
        let manifest = try Repository.read("Package.swift")
        let drawing = try #require(MarkdownPage("docs/architecture.md").blocks(of: "mermaid").first)
        let edges = drawing.lines.compactMap { $0.wholeMatch(of: /\s*([\w-]+) --> ([\w-]+)/) }
        #expect(edges.count > 10)
        for edge in edges {
            let target = manifest.firstMatch(of: try Regex("name: \"\(edge.1)\",\\s+dependencies: \\[([^\\]]*)\\]"))
            let dependencies = try #require(target?.output[1].substring, "\(edge.1)")
            #expect(dependencies.contains("\"\(edge.2)\""), "\(edge.1) --> \(edge.2)")
        }
    }

    @Test func `the source reader distinguishes functions of different types`() {
        let source = SwiftSource(
            text: "struct A {\n    init() {}\n    func b() {}\n}\n\nextension C {\n    var d: Int { 0 }\n}\n"
        )
        #expect(source.declares("A.b") && source.declares("A.init") && source.declares("C.d"))
        #expect(!source.declares("A.d") && !source.declares("C.b") && !source.declares("C.init"))
    }
}

/// The page's walks: its sections with numbered steps.
private struct ArchitecturePage {
    /// Functions, each as `Type.member`, and the file that declares them.
    struct Step {
        var functions: [String]
        var file: String
    }

    struct Walk {
        var title: String
        var steps: [Step] = []
    }

    private(set) var walks: [Walk] = []

    init() throws {
        var walk: Walk?
        for line in try MarkdownPage("docs/architecture.md").prose {
            if line.hasPrefix("## ") {
                walk.map { walks.append($0) }
                walk = .init(title: String(line.dropFirst(3)))
            } else if line.wholeMatch(of: /\d+\. .*/) != nil {
                walk?.steps += Self.steps(in: line)
            }
        }
        walk.map { walks.append($0) }
        walks.removeAll(where: \.steps.isEmpty)
    }

    /// Each run of code spans before a link is of the file that the link leads to.
    private static func steps(in line: String) -> [Step] {
        line.matches(of: /((?:`[\w.]+`, )*`[\w.]+`) in \[[^\]]+\]\(\.\.\/([^)]+)\)/).map { match in
            .init(functions: match.1.matches(of: /`([\w.]+)`/).map { String($0.1) }, file: String(match.2))
        }
    }
}

/// A source file, as far as to tell which members its types and extensions declare.
private struct SwiftSource {
    /// The lines from a type's declaration to the brace that ends it, under the type's name.
    private var bodies: [(type: String, text: Substring)] = []

    init(_ path: String) throws { self.init(text: try Repository.read(path)) }

    init(text: String) {
        let pattern = /(?m)^( *)(?:[\w@():]+ )*(?:struct|class|enum|extension|protocol|actor) ([\w.]+)/
        for match in text.matches(of: pattern) {
            let rest = text[match.range.upperBound...]
            let end = rest.range(of: "\n\(match.1)}")?.lowerBound ?? rest.endIndex
            let name = match.2.split(separator: ".").last.map(String.init) ?? ""
            bodies.append((name, rest[..<end]))
        }
    }

    /// Whether a type, named as in `Type.member`, declares a function, a property or an initializer of that name.
    func declares(_ function: String) -> Bool {
        let parts = function.split(separator: ".").map(String.init)
        guard parts.count == 2 else { return false }
        let member = parts[1] == "init" ? "\\binit[?(<]" : "\\b(func|var|let) `?\(parts[1])\\b"
        return bodies.contains { $0.type == parts[0] && $0.text.range(of: member, options: .regularExpression) != nil }
    }
}
