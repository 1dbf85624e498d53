import FoundationEssentials
import Glibc
import NetworkLab

/// A temporary folder that is removed with its last reference.
package final class LabFolder: Sendable {
    /// The absolute path.
    package let path: String

    /// Creates an empty folder.
    ///
    /// The corresponding C function is `mkdtemp`.
    package init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/netwatch-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp in \(parent)", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // A process or a store that is about to end may add and remove files meanwhile, at which a removal stops.
        for _ in 0..<10 where access(path, F_OK) == 0 { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Writes a file and returns its path; missing folders are created.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = "\(path)/\(name)"
        if let slash = file.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: String(file[..<slash]),
                withIntermediateDirectories: true
            )
        }
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }

    /// Writes a text file and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    /// Returns what a text file holds.
    func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
    }
}
