import CommandLineSupport
import Glibc
import LinuxSystem
import NetworkLab
import Testing

@testable import netwatch

@Suite struct LineOutputTests {
    private func pipePair() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func `all output reaches a slow reader through a full nonblocking pipe`() throws {
        let ends = try pipePair()
        try #require(fcntl(ends.write, F_SETFL, O_NONBLOCK) == 0)
        let line = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let received = LabInbox<[UInt8]>()
        let reader = try LabThread {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1000)
            while case let count = read(ends.read, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
            received.put(all)
        }
        try LineOutput(descriptor: ends.write).write(line)
        close(ends.write)
        reader.join()
        close(ends.read)
        #expect(received.all == [line])
    }

    @Test func `a closed pipe is reported`() throws {
        _ = SignalActions.brokenPipeWasIgnored
        let ends = try pipePair()
        defer { close(ends.write) }
        close(ends.read)
        #expect(throws: OutputFailure.closed) { try LineOutput(descriptor: ends.write).write("x\n") }
    }

    @Test func `a full disk is reported`() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        let failure = try #require(throws: OutputFailure.self) { try LineOutput(descriptor: full).write("x\n") }
        #expect(failure == .failed(.init(code: ENOSPC)))
        let error = try #require(throws: ToolError.self) { try failure.end(writing: "stdout") }
        #expect(error.status.rawValue == 74)
        #expect(error.message.contains("No space left on device"))
    }
}
