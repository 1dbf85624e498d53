import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite("Examples/SteadyUpload")
struct SteadyUploadTests {
    private struct Reading: Decodable {
        var number: Int
        var value: Double
    }

    @Test("Every reading arrives once by its key, however the link is lost and returns")
    func survives() async throws {
        let lab = try UplinkLab()
        // IPv6 sends packets by itself, and packets are counted.
        try lab.machine.setSysctl("net.ipv6.conf.\(UplinkLab.interface).disable_ipv6", to: 1)
        let server = try JournalServer(in: lab)
        let program = try lab.machine.run {
            let arguments = ["-oL", BuiltProducts.path(of: "SteadyUpload"), "\(server.url)v1"]
            return try LabProcess("/usr/bin/stdbuf", arguments)
        }
        var read = 1
        for outage in Outage.allCases {
            try await server.waitForReadings(read)
            try lab.begin(outage)
            let sent = try lab.machine.sentPackets(UplinkLab.interface)
            // Some are made while the link is lost; the last of them at the earliest a second later. The server may yet process
            // what had arrived before.
            read = max(read, server.journal.value.count) + 2
            try program.waitForOutput { $0.contains("read \(read - 1)\n") }
            for _ in 0..<100 where Self.numbers(server.journal.value).count >= read {
                read += 1
                try program.waitForOutput { $0.contains("read \(read - 1)\n") }
            }
            #expect(Self.numbers(server.journal.value).count < read, "\(outage)")
            #expect(try lab.machine.sentPackets(UplinkLab.interface) == sent, "\(outage)")
            try lab.end(outage)
        }
        let journal = try await server.waitForReadings(read)
        try program.waitForOutput { text in (0..<read).allSatisfy { text.contains("uploaded \($0)\n") } }
        try program.send(SIGTERM)
        let outcome = try program.finish()
        #expect(outcome.errors == "")
        #expect(!outcome.output.contains("lost"), "\(outcome.output)")
        let byKey = Dictionary(grouping: journal) { $0.key ?? "" }
        for (key, entries) in byKey {
            #expect(entries.allSatisfy { $0.method == "POST" && $0.target == "/v1/readings" })
            #expect(key.hasSuffix("-\(Self.numbers(entries).first ?? -1)"))
            #expect(Set(entries.map(\.body)).count == 1, "what comes twice by a key is the same")
        }
        #expect(byKey.count == Self.numbers(journal).count)
        try await server.stop()
    }

    /// The numbers of the readings that have arrived.
    fileprivate static func numbers(_ entries: [JournalServer.Entry]) -> Set<Int> {
        Set(entries.compactMap { try? JSONDecoder().decode(Reading.self, from: Data($0.body)).number })
    }
}

extension JournalServer {
    /// Waits until a number of readings have arrived.
    @discardableResult
    fileprivate func waitForReadings(_ count: Int) async throws -> [Entry] {
        try await journal.wait(for: "\(count) readings") { entries in
            SteadyUploadTests.numbers(entries).isSuperset(of: 0..<count)
        }
    }
}
