import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Reading the traffic counters of interfaces.
@Suite(.timeLimit(.minutes(5))) struct TrafficMeterTests {
    @Test func `a meter counts the traffic in the engine's namespace`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        var configuration = MonitorConfiguration()
        configuration.namespace = .path(lab.path)
        let engine = MonitorEngine(configuration) { _ in }
        try engine.start()
        defer { engine.stop() }
        let meter = try engine.trafficMeter()
        let before = try lab.loopbackBytes()
        #expect(try meter.read().contains { $0.index == 1 })
        try lab.sendToItself(count: 3)
        let seen = try #require(try lab.loopbackBytes())
        let after = try meter.read()
        let loopback = try #require(after.first { $0.index == 1 })
        #expect(before.map { $0 < seen } == true)
        #expect(loopback.receivedBytes >= seen && loopback.sentBytes >= seen)
        #expect(try lab.loopbackBytes().map { $0 >= loopback.receivedBytes } == true)
        #expect(Set(after.map(\.index)) == [1, 10, 110])
    }

    @Test func `a meter outlives the engine's run, and a stopped engine has none`() throws {
        let engine = MonitorEngine(.init()) { _ in }
        #expect(throws: ReachabilityError.self) { try engine.trafficMeter() }
        try engine.start()
        let meter = try engine.trafficMeter()
        engine.stop()
        #expect(try meter.read().contains { $0.index == 1 })
    }
}

/// The latency of changes.
@Suite(.timeLimit(.minutes(5))) struct NoticeLatencyTests {
    @Test func `a change that messages caused has its latency; the final one has none`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let changes = LabInbox<(ReachabilityChange, Duration?)>()
        var configuration = MonitorConfiguration()
        configuration.changeTap = { changes.put(($0, $1)) }
        let engine = MonitorEngine(configuration) { _ in }
        try lab.run { try engine.start() }
        #expect(try engine.view().isSettled)
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let all = try changes.wait(for: "the route") { $0.last?.0.status == .wifi }
        let latency = try #require(all.last?.1)
        #expect(latency > .zero)
        engine.stop()
        #expect(changes.all.last?.0.status == .unknown)
        #expect(try #require(changes.all.last).1 == nil)
    }
}

extension LabNamespace {
    /// Sends datagrams of a thousand bytes to a socket that does not read them.
    fileprivate func sendToItself(count: Int) throws {
        try run {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw LabError("socket", errno: errno) }
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(9).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let bytes = [UInt8](repeating: 0, count: 1_000)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            for _ in 0..<count {
                let sent = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        sendto(descriptor, bytes, bytes.count, 0, $0, length)
                    }
                }
                guard sent == bytes.count else { throw LabError("sendto", errno: errno) }
            }
        }
    }

    /// The number of bytes that the loopback has received (proc(5)); nil if it is not available.
    fileprivate func loopbackBytes() throws -> UInt64? {
        try run {
            guard let file = fopen("/proc/thread-self/net/dev", "r") else {
                throw LabError("open /proc/thread-self/net/dev", errno: errno)
            }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 512)
            while fgets(&line, Int32(line.count), file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let words = text.split { " :".contains($0) }
                if words.first == "lo", words.count > 1 { return UInt64(words[1]) }
            }
            return nil
        }
    }
}
