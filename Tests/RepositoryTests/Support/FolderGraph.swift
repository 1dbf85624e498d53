/// The dependencies between the folders of a module, found in its sources as text.
///
/// A folder depends on another if one of its files names a top-level type whose declaration is in the other. A folder may
/// use the folders inside it, and they may use it.
struct FolderGraph {
    /// A file that names a type of another folder.
    struct Mention: CustomStringConvertible {
        let file: String
        let type: String

        var description: String { "\(file) names \(type)" }
    }

    private struct Edge: Hashable {
        let from: String
        let to: String
    }

    private var mentions: [Edge: [Mention]] = [:]

    /// Reads the sources of a module.
    init(module: String) throws {
        let root = "Sources/\(module)/"
        let files = try Repository.swiftFiles(under: "Sources/\(module)").map { path in
            (String(path.dropFirst(root.count)), try Repository.read(path))
        }
        self.init(files: Dictionary(uniqueKeysWithValues: files))
    }

    /// Makes the graph of sources given by their paths in the module.
    init(files: [String: String]) {
        let sources = files.map { (path: $0.key, text: SourceWords($0.value)) }.sorted { $0.path < $1.path }
        var homes: [String: String] = [:]
        for source in sources {
            for type in source.text.declaredTypes { homes[type] = Self.folder(of: source.path) }
        }
        for source in sources {
            let folder = Self.folder(of: source.path)
            for word in source.text.words {
                guard let home = homes[word], home != folder, !Self.isInside(home, folder) else { continue }
                mentions[.init(from: folder, to: home), default: []].append(.init(file: source.path, type: word))
            }
        }
    }

    /// The cycles among the module's outermost folders, and those among all of its folders, each described in words.
    var cycles: [String] {
        let outermost = Self.merged(mentions) { String($0.prefix { $0 != "/" }) }
        var descriptions: [String] = []
        for edges in [outermost, mentions] {
            for folders in Self.cycles(of: edges) {
                let description = Self.describe(folders, edges)
                if !descriptions.contains(description) { descriptions.append(description) }
            }
        }
        return descriptions
    }

    private static func merged(_ mentions: [Edge: [Mention]], by name: (String) -> String) -> [Edge: [Mention]] {
        var merged: [Edge: [Mention]] = [:]
        for (edge, list) in mentions where name(edge.from) != name(edge.to) {
            merged[.init(from: name(edge.from), to: name(edge.to)), default: []] += list
        }
        return merged
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    private static func isInside(_ inner: String, _ outer: String) -> Bool {
        outer.isEmpty ? false : inner.hasPrefix(outer + "/")
    }

    /// The cycle's folders, and the dependencies to remove: the weakest first.
    private static func describe(_ folders: Set<String>, _ mentions: [Edge: [Mention]]) -> String {
        let edges = mentions.filter { folders.contains($0.key.from) && folders.contains($0.key.to) }
        let weakestFirst = edges.sorted {
            ($0.value.count, $0.key.from, $0.key.to) < ($1.value.count, $1.key.from, $1.key.to)
        }
        let lines = weakestFirst.map { edge, list in
            let example = list.min { ($0.file, $0.type) < ($1.file, $1.type) }
            return "  \(edge.from) -> \(edge.to): \(list.count) mentions, such as: \(example.map(\.description) ?? "")"
        }
        return (["cycle of \(folders.sorted().joined(separator: ", "))"] + lines).joined(separator: "\n")
    }

    /// The sets of folders of which each can be reached from each other one.
    private static func cycles(of mentions: [Edge: [Mention]]) -> [Set<String>] {
        var next: [String: Set<String>] = [:]
        for edge in mentions.keys { next[edge.from, default: []].insert(edge.to) }
        var cycles: [Set<String>] = []
        for start in next.keys.sorted() where !cycles.contains(where: { $0.contains(start) }) {
            let ahead = reachable(from: start, next)
            guard ahead.contains(start) else { continue }
            cycles.append(ahead.filter { reachable(from: $0, next).contains(start) })
        }
        return cycles
    }

    private static func reachable(from start: String, _ next: [String: Set<String>]) -> Set<String> {
        var found: Set<String> = []
        var open = Array(next[start] ?? [])
        while let folder = open.popLast() {
            if found.insert(folder).inserted { open += next[folder] ?? [] }
        }
        return found
    }
}
