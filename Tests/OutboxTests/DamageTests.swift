import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Outbox
import Testing

/// Damage at random bytes: an outbox opens again, delivers what can be read, and sets the damaged file aside.
@Suite(.timeLimit(.minutes(15))) struct DamageTests {
    @Test(arguments: 1...12)
    func `after damage the outbox opens, and what can be read is sent`(seed: Int) async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        for number in 0..<200 {
            try await lab.lane(adding).post("a", .bytes([UInt8](repeating: UInt8(number), count: 500)))
        }
        await adding.shutdown()
        try damage("\(lab.path)/outbox.db\(seed % 2 == 0 ? "" : "-wal")", seed: UInt64(seed))
        // As after a power failure: the marker of a system that was stopped.
        try Data("another boot".utf8).write(to: .init(filePath: "\(lab.path)/in-use"))
        let outbox = try await lab.open()
        try await lab.lane(outbox).post("last", .text("x"))
        while try await !outbox.items().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        // A changed byte is noticed, and neither ends an item early nor sends another one.
        let ends = Set(try await outbox.storage.outcomes(after: 0, limit: 1_000).map(\.end))
        #expect(ends.isSubset(of: [.delivered, .damaged]) && ends.contains(.delivered), "\(ends)")
        await outbox.shutdown()
    }

    /// Overwrites bytes at random places, behind the first page.
    private func damage(_ path: String, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: .init(filePath: path))
        guard bytes.count > 8_192 else { return }
        for _ in 0..<20 {
            let position = Int.random(in: 4_096..<bytes.count, using: &generator)
            bytes[position] = UInt8.random(in: 0...255, using: &generator)
        }
        try bytes.write(to: .init(filePath: path))
    }

    @Test func `a header that is destroyed is repaired as a new outbox, and the file is set aside`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).post("a", .text("x"))
        await adding.shutdown()
        try FileManager.default.removeItem(atPath: "\(lab.path)/outbox.db-wal")
        try Data(repeating: 0x5A, count: 5_000).write(to: .init(filePath: "\(lab.path)/outbox.db"))
        let outbox = try await lab.open()
        try await lab.lane(outbox).post("b", .text("x"))
        #expect(try await outbox.next(1).first?.end == .delivered)
        #expect(FileManager.default.fileExists(atPath: "\(lab.path)/damaged-1/outbox.db"))
    }

    @Test func `a file of the spool that is missing refuses its item, and nothing else`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).put("lost", .bytes(.init(repeating: 1, count: 100_000)))
        try await lab.lane(adding).put("there", .bytes([1]))
        await adding.shutdown()
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(lab.path)/spool") {
            try FileManager.default.removeItem(atPath: "\(lab.path)/spool/\(name)")
        }
        let outcomes = try await lab.open().next(2)
        #expect(Set(outcomes.map { "\($0.reference) \($0.end)" }) == ["lost refused", "there delivered"])
    }
}
