import Glibc
import ReachabilityCore
import Testing

struct CaptureWriterTests {
    @Test(arguments: ByteOrder.allCases)
    func `written records can be read back`(byteOrder: ByteOrder) throws {
        let writer = CaptureWriter(byteOrder: byteOrder)
        let event = NetlinkEncoder(byteOrder: byteOrder).encode(.done(errno: 0))
        let uevent = NetlinkEncoder().encode(
            .uevent(.init(action: .add, interface: "wwan0", index: 3, deviceType: "wwan"))
        )
        var bytes = writer.header
        bytes += writer.record(at: 1_700_000_000_123_456_789, event, type: .user)
        bytes += writer.record(at: 4_294_967_295_999_999_999, uevent, protocol: NetlinkDecoder.uevent)
        bytes += writer.record(at: .max, [])
        bytes += writer.record(at: -1, event)
        let reading = CaptureReading(bytes)
        #expect(reading.fault == nil)
        #expect(
            reading.records.map(\.time) == [
                1_700_000_000_123_456_789, 4_294_967_295_999_999_999, 4_294_967_295_999_999_999, 0,
            ]
        )
        #expect(reading.records.map { Array(bytes[$0.payload]) } == [event, uevent, [], event])
        #expect(reading.records.map(\.netlinkProtocol) == [0, 15, 0, 0])
        #expect(reading.records.map(\.packetType) == [.user, .outgoing, .outgoing, .outgoing])
        #expect(reading.records.map(\.byteOrder) == Array(repeating: byteOrder, count: 4))
    }

    @Test func `a datagram that is too long is truncated and marked`() throws {
        let bytes = CaptureWriter().header + CaptureWriter().record(at: 0, Array(repeating: 1, count: 300_000))
        let record = try #require(CaptureReading(bytes).records.first)
        #expect(record.payload.count == 262_144 - 16)
        #expect(record.originalLength == 300_000)
    }

    @Test(.enabled(if: access("/usr/bin/tshark", X_OK) == 0, "tshark is not installed"))
    func `Wireshark reads the capture`() throws {
        var bytes = CaptureWriter().header
        for time in [1_700_000_000_123_456_789, 1_700_000_001_000_000_001] as [Int64] {
            bytes += CaptureWriter().record(at: time, NetlinkEncoder().encode(.route(.init(destination: .all(.ipv4)))))
        }
        let fields = "-e frame.time_epoch -e netlink-route.rt_table"
        let lines = try output(of: "/usr/bin/tshark -r - -T fields \(fields) 2>/dev/null", given: bytes)
        #expect(lines == ["1700000000.123456789\t254", "1700000001.000000001\t254"])
    }
}

/// The lines that a shell command prints when it is given some bytes.
private func output(of command: String, given input: [UInt8]) throws -> [String] {
    var template = Array("/tmp/netwatch-capture-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    #expect(input.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == input.count)
    close(descriptor)
    let pipe = try #require(popen("\(command) < \(path)", "r"))
    defer { pclose(pipe) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 { text += chunk[..<count] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
}
