import Crypto
import FoundationEssentials
import Glibc

/// The format of an archive: a line with the version, the items, and a line with their number.
///
/// Each item is a line of JSON, the bytes of its body, a line feed, and the SHA-256 of all that in hexadecimal digits, with a
/// line feed. What is written behind the number is not read.
enum ArchiveFormat {
    static let header = "netwatch outbox archive 1"
    static let largestLine = 1 << 20

    static func end(_ count: Int) -> String { "end \(count)" }
}

/// Writes an archive to a descriptor.
package final class ArchiveWriter {
    private let descriptor: Int32
    private let name: String
    private var count = 0

    /// Writes the beginning.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor; its opener closes it.
    ///   - name: Its name, for errors.
    /// - Throws: ``OutboxError`` if it can't be written.
    package init(to descriptor: Int32, named name: String) throws(OutboxError) {
        (self.descriptor, self.name) = (descriptor, name)
        try write(Array((ArchiveFormat.header + "\n").utf8))
    }

    /// Writes an item; the closure supplies its body in pieces, of the announced size.
    ///
    /// - Throws: ``OutboxError``: `invalidRequest` for an item that no archive can hold, of which nothing is written, or an
    ///   error of the archive or the body.
    package func write(_ item: ArchivedItem, _ body: ((UnsafeRawBufferPointer) -> Void) throws -> Void) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Array(try encoder.encode(item)) + [UInt8(ascii: "\n")]
        guard line.count <= ArchiveFormat.largestLine else {
            let reason = "its fields and the program's values are too large for an archive: more than 1 MiB together"
            throw OutboxError(.invalidRequest, reason: reason)
        }
        var hash = SHA256()
        hash.update(data: line)
        try write(line)
        var (size, failure): (Int64, OutboxError?) = (0, nil)
        try body { bytes in
            hash.update(bufferPointer: bytes)
            size += Int64(bytes.count)
            if failure == nil { do throws(OutboxError) { try write(bytes) } catch { failure = error } }
        }
        if let failure { throw failure }
        guard size == item.size else {
            throw OutboxError(.bodyUnavailable, reason: "the body has \(size) bytes instead of \(item.size)")
        }
        try write(Array("\n\(hash.finalize().hexadecimal)\n".utf8))
        count += 1
    }

    /// Writes the end.
    package func end() throws(OutboxError) { try write(Array((ArchiveFormat.end(count) + "\n").utf8)) }

    private func write(_ bytes: [UInt8]) throws(OutboxError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(OutboxError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(OutboxError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code: OutboxError.Code = errno == ENOSPC || errno == EDQUOT ? .full : .storageFailed
                throw .init(code, reason: "cannot write \(name): \(String(cString: strerror(errno)))")
            }
            rest = .init(rebasing: rest.dropFirst(count))
        }
    }
}

/// Reads an archive from a descriptor, and checks it.
package final class ArchiveReader {
    private let descriptor: Int32
    private let name: String
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var range = 0..<0
    private var count = 0
    private var hash = SHA256()

    /// Reads the beginning.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor; its opener closes it.
    ///   - name: Its name, for errors.
    /// - Throws: ``OutboxError``: `damaged` if it is no archive.
    package init(of descriptor: Int32, named name: String) throws(OutboxError) {
        (self.descriptor, self.name) = (descriptor, name)
        guard let line = try line(), line == Array(ArchiveFormat.header.utf8) else {
            throw .init(.damaged, reason: "\(name) is no archive of an outbox: 'netwatch outbox export' writes one")
        }
    }

    /// Reads the next item, in front of its body; nil at the end of the archive.
    package func next() throws(OutboxError) -> ArchivedItem? {
        guard let line = try line() else { throw damage("is truncated") }
        if line == Array(ArchiveFormat.end(count).utf8) { return nil }
        guard let item = try? JSONDecoder().decode(ArchivedItem.self, from: Data(line)), item.size >= 0 else {
            throw damage("is damaged")
        }
        hash = SHA256()
        hash.update(data: line + [UInt8(ascii: "\n")])
        return item
    }

    /// Reads the body of the item that was read last, in pieces, and checks that it is whole.
    package func readBody(of item: ArchivedItem, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var rest = item.size
        while rest > 0 {
            guard try fill() else { throw damage("is truncated") }
            let piece = buffer[range.prefix(Int(min(rest, Int64(range.count))))]
            range = piece.endIndex..<range.upperBound
            rest -= Int64(piece.count)
            piece.withUnsafeBytes { hash.update(bufferPointer: $0) }
            try body(piece)
        }
        guard try line() == [], let digits = try line() else { throw damage("is truncated") }
        guard digits == Array(hash.finalize().hexadecimal.utf8) else { throw damage("is damaged") }
        count += 1
    }

    private func damage(_ what: String) -> OutboxError {
        .init(.damaged, reason: "\(name): item \(count + 1) \(what); export it again: nothing is added twice")
    }

    /// Reads a line without its line feed; nil at the end.
    private func line() throws(OutboxError) -> [UInt8]? {
        var line: [UInt8] = []
        while line.count < ArchiveFormat.largestLine {
            guard try fill() else { return nil }
            let piece = buffer[range]
            let end = piece.firstIndex(of: UInt8(ascii: "\n"))
            line += piece[..<(end ?? piece.endIndex)]
            range = (end.map { $0 + 1 } ?? piece.endIndex)..<range.upperBound
            if end != nil { return line }
        }
        throw damage("is damaged")
    }

    /// Reads more if nothing is left; returns false at the end.
    private func fill() throws(OutboxError) -> Bool {
        while range.isEmpty {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw .init(.storageFailed, reason: "cannot read \(name): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return false }
            range = 0..<count
        }
        return true
    }
}
