import FoundationEssentials
import Glibc
import NetworkLab

/// A temporary folder that goes with its last owner.
package final class LabFolder: Sendable {
    /// Its absolute path.
    package let path: String

    /// Makes an empty one.
    ///
    /// The corresponding C function is `mkdtemp`.
    package init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/netwatch-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp in \(parent)", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and gives its path; folders on the way are made.
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

    /// Writes a text file and gives its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }
}
