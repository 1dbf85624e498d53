import Glibc
import NetworkLab

/// What programs wrote below a folder, in order (Fixtures/disk-recorder.c), and what a power failure leaves of it.
package struct DiskRecording {
    /// An operation.
    package struct Record {
        /// The kind: Create, Write, Truncate, Synchronize, Rename, Link, Unlink, Make a folder, Acknowledge (output).
        package var kind: Character
        package var path: String
        package var offset: Int
        package var data: [UInt8]
    }

    /// The operations, in order.
    package private(set) var records: [Record] = []
    /// The recorded folder.
    package let root: String

    /// Compiles the recorder, which a program loads with the variables of ``environment(_:root:log:)``.
    ///
    /// - Parameter library: The path of the library that is written.
    /// - Throws: An error with what the compiler printed.
    package static func compileRecorder(to library: String) throws {
        let source = Repository.path("Tests/Fixtures/disk-recorder.c")
        let arguments = ["clang", "-shared", "-fPIC", "-o", library, source, "-ldl"]
        let outcome = try LabProcess.run("/usr/bin/env", arguments)
        guard outcome.code == 0 else { throw LabError("clang", errno: ENOEXEC, detail: outcome.errors) }
    }

    /// Returns the environment variables with which the writes of a program are recorded.
    ///
    /// - Parameters:
    ///   - library: The path of the recorder.
    ///   - root: The folder below which writes are recorded.
    ///   - log: The path of a file, to which they are appended.
    /// - Returns: The variables.
    package static func environment(_ library: String, root: String, log: String) -> [String: String] {
        ["LD_PRELOAD": library, "DISK_ROOT": root, "DISK_LOG": log]
    }

    /// Reads what was recorded.
    ///
    /// - Parameters:
    ///   - root: The recorded folder.
    ///   - file: The path of the file with the records.
    /// - Throws: An error if the file can't be read.
    package init(of root: String, from file: String) throws {
        self.root = root
        let bytes = try Repository.bytes(of: file)
        func number(_ position: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
        }
        var position = 0
        while position < bytes.count {
            let (path, data) = (number(position, 4), number(position + 4, 4))
            let start = position + 24
            let end = start + path + data
            records.append(
                .init(
                    kind: Character(.init(bytes[position + 16])),
                    path: String(decoding: bytes[start..<start + path], as: UTF8.self),
                    offset: number(position + 8, 8),
                    data: Array(bytes[start + path..<end])
                )
            )
            position = end
        }
    }

    /// Calls a closure with states of the disk after a power failure, at random moments.
    ///
    /// - Parameters:
    ///   - count: The number of states.
    ///   - seed: The seed of moments, and of what was written before the power failed.
    ///   - body: Receives the files by their paths below the folder, and the lines that were printed before.
    /// - Throws: The closure's error.
    package func forEachFailure(_ count: Int, seed: UInt64, _ body: ([String: [UInt8]], [String]) throws -> Void) throws
    {
        var generator = SeededGenerator(seed: seed)
        var moments: [Int: Int] = [:]
        for _ in 0..<count { moments[Int.random(in: 1...records.count, using: &generator), default: 0] += 1 }
        var (disk, printed) = (SimulatedDisk(root: root), [UInt8]())
        for (index, record) in records.enumerated() {
            if record.kind == "A" { printed += record.data } else { disk.apply(record) }
            for _ in 0..<moments[index + 1, default: 0] {
                let lines = String(decoding: printed, as: UTF8.self).split(separator: "\n").map(String.init)
                try body(disk.failure(using: &generator), lines)
            }
        }
    }
}

/// A disk as POSIX promises it, and no more.
///
/// Contents are on disk after fsync(2) of the file, names after that of their folder. What is not synchronized may be
/// there or not, each sector for itself; the names of a folder change in order.
private struct SimulatedDisk {
    private final class File {
        var synced: [UInt8] = []
        var pending: [DiskRecording.Record] = []
        let isFolder: Bool

        init(isFolder: Bool) { self.isFolder = isFolder }
    }

    private struct NameChange {
        var path: String
        var file: File?
        var removed: String?
    }

    private let root: String
    private var names: [String: File] = [:]
    private var syncedNames: [String: File] = [:]
    private var changes: [String: [NameChange]] = [:]
    private static let sector = 512

    init(root: String) { self.root = root }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    mutating func apply(_ record: DiskRecording.Record) {
        switch record.kind {
        case "C": add(record.path, .init(isFolder: false))
        case "M": add(record.path, .init(isFolder: true))
        case "W", "T": names[record.path]?.pending.append(record)
        case "S": synchronize(record.path)
        case "U":
            names[record.path] = nil
            changes[Self.folder(of: record.path), default: []].append(.init(path: record.path))
        case "R", "L":
            let target = String(decoding: record.data, as: UTF8.self)
            guard let file = names[record.path] else { return }
            names[target] = file
            let removed = record.kind == "R" ? record.path : nil
            if let removed { names[removed] = nil }
            changes[Self.folder(of: target), default: []].append(.init(path: target, file: file, removed: removed))
        default: break
        }
    }

    private mutating func add(_ path: String, _ file: File) {
        names[path] = file
        changes[Self.folder(of: path), default: []].append(.init(path: path, file: file))
    }

    private mutating func synchronize(_ path: String) {
        if let file = names[path], !file.isFolder {
            for record in file.pending { Self.apply(record, to: &file.synced) }
            file.pending = []
        } else {
            for change in changes[path] ?? [] { Self.apply(change, to: &syncedNames) }
            changes[path] = []
        }
    }

    private static func apply(_ change: NameChange, to names: inout [String: File]) {
        if let removed = change.removed { names[removed] = nil }
        names[change.path] = change.file
    }

    private static func apply(_ record: DiskRecording.Record, to contents: inout [UInt8]) {
        if record.kind == "T" {
            if contents.count > record.offset { contents.removeLast(contents.count - record.offset) }
            contents += [UInt8](repeating: 0, count: record.offset - contents.count)
            return
        }
        let end = record.offset + record.data.count
        if contents.count < end { contents += [UInt8](repeating: 0, count: end - contents.count) }
        contents.replaceSubrange(record.offset..<end, with: record.data)
    }

    /// Returns the files after a power failure, by their paths below the root.
    func failure(using generator: inout SeededGenerator) -> [String: [UInt8]] {
        var names = syncedNames
        for folder in changes.keys.sorted() {
            let pending = changes[folder] ?? []
            let count = [0, pending.count, Int.random(in: 0...pending.count, using: &generator)].randomElement(
                using: &generator
            )
            for change in pending.prefix(count ?? 0) { Self.apply(change, to: &names) }
        }
        let share = [0, 50, 100].randomElement(using: &generator) ?? 0
        var files: [String: [UInt8]] = [:]
        for path in names.keys.sorted() {
            guard let file = names[path], !file.isFolder, !path.hasSuffix("-shm"), isReachable(path, names) else {
                continue
            }
            var contents = file.synced
            for record in file.pending { Self.applyPart(of: record, share, to: &contents, &generator) }
            files[String(path.dropFirst(root.count + 1))] = contents
        }
        return files
    }

    private func isReachable(_ path: String, _ names: [String: File]) -> Bool {
        let folder = Self.folder(of: path)
        return folder == root || names[folder]?.isFolder == true && isReachable(folder, names)
    }

    /// Applies the sectors of a write that reached the disk.
    private static func applyPart(
        of record: DiskRecording.Record,
        _ share: Int,
        to contents: inout [UInt8],
        _ generator: inout SeededGenerator
    ) {
        guard record.kind == "W" else {
            if Int.random(in: 0..<100, using: &generator) < share { apply(record, to: &contents) }
            return
        }
        var start = 0
        while start < record.data.count {
            let end = min((record.offset + start) / sector * sector + sector - record.offset, record.data.count)
            var part = record
            part.offset = record.offset + start
            part.data = Array(record.data[start..<end])
            if Int.random(in: 0..<100, using: &generator) < share { apply(part, to: &contents) }
            start = end
        }
    }
}
