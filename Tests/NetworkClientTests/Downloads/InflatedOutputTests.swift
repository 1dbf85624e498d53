import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// Compressed responses that are written to a file or a pipe: the inflated data must not accumulate in memory.
@Suite(.timeLimit(.minutes(20)))
struct InflatedOutputTests {
    /// The destination of a body.
    enum Output: String, Codable, Sendable, CaseIterable { case file, slowPipe, fastPipe }

    /// The approximate compression ratio of a body.
    enum Ratio: Int, Sendable, CaseIterable {
        case five = 5
        case twentyTwo = 22
        /// As much as gzip allows: a bomb.
        case thousand = 1_000

        /// A block of 1 MiB that compresses so: of each KiB, so much is random that the rest is repetition.
        fileprivate var block: [UInt8] {
            var generator = SeededGenerator(seed: 1)
            let randomCount = self == .thousand ? 0 : 1_024 / rawValue - 4
            return (0..<1 << 20).map { $0 % 1_024 < randomCount ? UInt8.random(in: 0...255, using: &generator) : 0 }
        }
    }

    @Test(arguments: Output.allCases, Ratio.allCases)
    func `a compressed body passes through little memory`(output: Output, ratio: Ratio) async throws {
        let lab = try DownloadLab()
        let size = Endurance.downloadSize
        let server = try Self.server(of: ratio.block, size: size)
        await #expect(processExitsWith: .success) {
            [
                port = server.port as UInt16, output = output as Output, path = lab.path as String,
                size = size as Int, record = "\(lab.folder.path)/peak" as String
            ] in
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(port)/", configuration: .lasting)
            // The memory of the tests themselves.
            let before = try AnonymousMemory.current()
            let memory = try AnonymousMemory()
            let pipe = output == .file ? nil : try CountedPipe(pause: output == .slowPipe ? 1_000 : 0)
            let place: BodyOutput = pipe.map { .descriptor($0.writer) } ?? .file(path, isSynced: false)
            #expect(try await session.download("", to: place).response().file.size == Int64(size))
            if let pipe { #expect(try pipe.closeAndCount() == size) }
            try Data("\(memory.end() - before)".utf8).write(to: URL(filePath: record))
        }
        let text = try #require(lab.bytes("\(lab.folder.path)/peak"))
        let growth = try #require(Int(String(decoding: text, as: UTF8.self)))
        print("\(size >> 20) MiB, compressed \(ratio.rawValue)-fold, to \(output): \(growth >> 10) KiB more memory")
        // A sanitizer's metadata take several times the memory that they describe.
        if LabHeap.bytesInUse > 0 { #expect(growth < 24 << 20) }
    }

    /// A server whose response is a repeated block, compressed.
    private static func server(of block: [UInt8], size: Int) throws -> ScriptedServer {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
        let body = ServerStep.custom { connection in
            let gzip = RepeatedBlockGzip(block, count: size / block.count)
            while let piece = gzip.next() { try connection.send(piece) }
        }
        return try ScriptedServer(always: [.readRequest, .send(head), body])
    }
}

/// A pipe with a thread that reads it and counts.
private final class CountedPipe: Sendable {
    let writer: Int32
    private let count = LabInbox<Int>()

    /// Opens the pipe.
    ///
    /// - Parameter pause: The reader's pause after each 64 KiB, in microseconds.
    /// - Throws: The errno if there is no thread for it.
    init(pause: UInt32) throws {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let reader = ends[0]
        writer = ends[1]
        _ = try LabThread { [count] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var total = 0
            while case let more = read(reader, &buffer, buffer.count), more > 0 {
                total += more
                if pause > 0 { usleep(pause) }
            }
            close(reader)
            count.put(total)
        }
    }

    /// Closes the writing end and returns how many bytes were read.
    ///
    /// - Throws: `ETIMEDOUT` if the reader does not end.
    func closeAndCount() throws -> Int {
        close(writer)
        return try count.wait(for: "the pipe's end") { !$0.isEmpty }[0]
    }
}
