import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// The page about uploads and its program.
@Suite(.timeLimit(.minutes(10)))
struct UploadsPageTests {
    private let folder: LabFolder
    private let program = BuiltProducts.path(of: "SendingBodies")

    init() throws { folder = try LabFolder() }

    @Test func `every call on the page is part of a program under Examples`() throws {
        let page = try Repository.read("docs/uploads.md")
        let source = try Repository.read("Examples/SendingBodies/main.swift")
        let blocks = page.matches(of: /```swift\n([^`]*)```/).map { String($0.1) }
        #expect(blocks.count >= 4)
        for line in blocks.flatMap({ $0.split(separator: "\n") }) {
            let call = line.trimmingCharacters(in: .whitespaces)
            #expect(source.contains(call), "\(call)")
        }
    }

    @Test func `the page names every kind of body, and every error code of bodies`() throws {
        let page = try Repository.read("docs/uploads.md")
        for name in ["bytes", "text", "json", "propertyList", "file", "once", "replayable", "multipart", "throttled"] {
            #expect(page.contains("`.\(name)("), "\(name)")
        }
        for code in ["bodyUnavailable", "bodyNotReplayable", "requestSerializationFailed", "fileFailed"] {
            #expect(page.contains("`\(code)`"), "\(code)")
        }
    }

    @Test func `the program sends all of them`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let path = try folder.write("report.txt", "a report")
        let outcome = try LabProcess.run(program, ["http://127.0.0.1:\(server.port)", path, "all"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output == String(repeating: "200\n", count: 6))
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.count == 6)
        let records = Array("record 0\nrecord 1\nrecord 2\n".utf8)
        #expect(requests.count { $0.body == records } == 2)
        #expect(requests.count { $0.body == Array("a report".utf8) } == 1)
        #expect(requests.count { $0.body == Array(#"{"kind":"daily"}"#.utf8) } == 1)
        #expect(requests.count { $0.head.contains("Content-Type: multipart/form-data; boundary=") } == 2)
    }

    @Test func `an upload takes little memory, however large the file is`() async throws {
        // A sparse file, which needs no disk space. NETWATCH_UPLOAD_MIB sets its full size.
        let size = (getenv("NETWATCH_UPLOAD_MIB").flatMap { Int(String(cString: $0)) } ?? 256) << 20
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readHead, .discardBody, .await(latch), .response()])
        let path = try folder.write("large", "")
        #expect(truncate(path, size) == 0)
        let upload = try LabProcess(program, ["http://127.0.0.1:\(server.port)", path])
        let peaks = LabInbox<Int?>()
        // A thread of its own is not kept waiting by other tests, as the program waits for the response no longer than a minute.
        let watcher = try LabThread {
            // Everything has been sent: the program's memory has reached its peak.
            let deadline = ContinuousClock.now + .seconds(480)
            while server.connections.first?.discarded != size, ContinuousClock.now < deadline { usleep(10_000) }
            peaks.put(try? peakMemory(of: upload.identifier))
            latch.open()
        }
        let peak = try #require(
            try peaks.wait(for: "the whole body", within: .seconds(500)) { !$0.isEmpty }.first ?? nil
        )
        watcher.join()
        let outcome = try upload.finish()
        #expect(outcome.output.hasSuffix("sent \(size) of \(size)\n200\n"))
        #expect(peak < 64 << 10, "\(peak) KiB")
        print("an upload of \(size >> 20) MiB took \(peak) KiB of memory at most")
    }

    /// The peak resident memory of a process, in KiB (VmHWM, proc(5)).
    private func peakMemory(of process: Int32) throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }.first)
    }
}
