import Foundation

/// The checked-out repository.
enum Repository {
    /// Its directory.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Reads a text file, relative to the repository's root.
    static func read(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The names in a directory, in alphabetical order, without hidden ones.
    static func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: directory).path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The Swift files below a directory, relative to the repository's root.
    static func swiftFiles(under directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: directory).path)
            .filter { $0.hasSuffix(".swift") }.map { "\(directory)/\($0)" }.sorted()
    }
}
