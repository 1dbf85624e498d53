import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Outbox
import OutboxCore
import Testing

/// Power failures, replayed from a recording of the writes, and a disk that fails.
///
/// `NETWATCH_POWER_FAILURES` is the number of states of the disk; 60 by default.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct PowerFailureTests {
    private static let states =
        ProcessInfo.processInfo.environment["NETWATCH_POWER_FAILURES"].flatMap { Int($0) } ?? 60

    /// A program under the recorder, below a folder.
    private struct Recorder {
        let lab: OutboxLab
        let library: String
        let log: String

        init() throws {
            lab = try OutboxLab()
            library = "\(lab.folder.path)/disk-recorder.so"
            log = try lab.folder.write("log", "")
            try lab.folder.write("disk/other", "")
            try DiskRecording.compileRecorder(to: library)
        }

        var root: String { "\(lab.folder.path)/disk" }
        var box: String { "\(root)/box" }

        func run(_ arguments: [String], _ variables: [String: String] = [:]) throws -> LabProcess.Outcome {
            let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
                .merging(DiskRecording.environment(library, root: root, log: log)) { $1 }
            let all = arguments + ["--box", box]
            return try LabProcess.run(ToolBinary.path + "-outbox", all, environment: environment)
        }

        /// Adds an item with a body, and returns its number.
        func add(_ body: [UInt8], _ variables: [String: String] = [:]) throws -> LabProcess.Outcome {
            let file = try lab.folder.write("body", body)
            return try run(["add", "--data", "@\(file)", lab.server.url + "/v1/a"], variables)
        }
    }

    /// Adds items, of which each third has a large body, and sends half of them.
    private func record(_ variables: [String: String] = [:]) throws -> (DiskRecording, bodies: [Int64: [UInt8]]) {
        let recorder = try Recorder()
        var bodies: [Int64: [UInt8]] = [:]
        for number in 1...18 {
            let body = [UInt8](repeating: UInt8(number), count: number % 3 == 0 ? 100_000 : 100)
            #expect(try recorder.add(body, variables).output == "\(number)\n")
            bodies[Int64(number)] = body
            if number == 9 { #expect(try recorder.run(["run", "--once"], variables).code == 0) }
        }
        return (try DiskRecording(of: recorder.root, from: recorder.log), bodies)
    }

    /// What a state of the disk lacks.
    private struct Loss {
        var lost = 0
        var broken: [String] = []
    }

    /// Replays power failures, and opens the outbox after each.
    private func replay(_ recording: DiskRecording, _ bodies: [Int64: [UInt8]]) throws -> Loss {
        var loss = Loss()
        try recording.forEachFailure(Self.states, seed: 1) { files, printed in
            let folder = try LabFolder()
            for (path, contents) in files { try folder.write(path, contents) }
            let acknowledged = printed.compactMap { Int64($0) }
            do {
                let found = try Self.contents("\(folder.path)/box", bodies, isNew: files.isEmpty)
                if acknowledged.contains(where: { !found.contains($0) }) { loss.lost += 1 }
            } catch {
                loss.broken.append("\(error)")
            }
        }
        return loss
    }

    private struct Broken: Error, CustomStringConvertible { let description: String }

    /// Returns the numbers of the items and outcomes; throws if a body is not what it was.
    private static func contents(_ box: String, _ bodies: [Int64: [UInt8]], isNew: Bool) throws -> Set<Int64> {
        let boot = MachineClock { .init(bootIdentifier: "next", sinceBoot: 0, wall: 0, isSynchronized: false) }
        if isNew { return [] }
        try BoxStorage(at: box, clock: boot).store.close()
        if access("\(box)/damaged-1", F_OK) == 0 { throw Broken(description: "the database was damaged") }
        let copy = try Database(at: "\(box)/outbox.db")
        for item in try copy.query("SELECT id, body, file FROM item", row: { ($0.integer(0), $0.blob(1), $0.text(2)) })
        {
            let file = item.2.flatMap { try? Data(contentsOf: .init(filePath: "\(box)/spool/\($0)")) }
            let body = item.1 ?? file.map { [UInt8]($0) }
            if body != bodies[item.0] { throw Broken(description: "item \(item.0) has another body") }
        }
        let ended = try copy.query("SELECT id FROM outcome") { $0.integer(0) }
        return Set(try copy.query("SELECT id FROM item") { $0.integer(0) } + ended)
    }

    @Test func `a power failure at any moment loses nothing that was acknowledged`() throws {
        let (recording, bodies) = try record()
        let loss = try replay(recording, bodies)
        #expect(loss.lost == 0)
        #expect(loss.broken.isEmpty, "\(loss.broken)")
    }

    @Test func `the same failures lose items where commits are not synchronized`() throws {
        let (recording, bodies) = try record(["DISK_SYNCHRONOUS": "NORMAL"])
        let loss = try replay(recording, bodies)
        #expect(loss.lost > 0)
    }

    @Test func `an error of synchronization acknowledges nothing, and the rest is delivered`() throws {
        for number in 1...6 {
            let recorder = try Recorder()
            #expect(try recorder.add([1]).code == 0)
            let large = [UInt8](repeating: 2, count: 100_000)
            let failed = try recorder.add(large, ["DISK_FAIL": "\(number)"])
            if failed.code != 0 {
                #expect(failed.code == 74 && failed.output.isEmpty, "\(failed)")
                #expect(failed.errors.contains("nput/output error") || failed.errors.contains("disk I/O error"))
            }
            #expect(try recorder.add([3]).code == 0)
            #expect(try recorder.run(["run", "--once"]).code == 0)
            let served = Set(recorder.lab.server.requests.value.map(\.body))
            #expect(served.isSuperset(of: [[1], [3]]) && (failed.code != 0 || served.contains(large)))
        }
    }
}
