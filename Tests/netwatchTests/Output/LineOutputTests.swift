import CommandLineLab
import CommandLineSupport
import Glibc
import LinuxSystem
import NetworkLab
import Testing

@testable import netwatch

@Suite struct LineOutputTests {
    @Test func `all output reaches a slow reader through a full nonblocking pipe`() throws {
        let ends = try Pipe()
        let source = ends.reader
        try #require(fcntl(ends.writer, F_SETFL, O_NONBLOCK) == 0)
        let line = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let received = LabInbox<[UInt8]>()
        let reader = try LabThread {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1000)
            while case let count = read(source, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
            received.put(all)
        }
        try LineOutput(descriptor: ends.writer).write(line)
        close(ends.writer)
        reader.join()
        close(source)
        #expect(received.all == [line])
    }

    @Test func `a closed pipe is reported`() throws {
        _ = SignalActions.ignoredForWrites
        // A child of another test may have a copy of a pipe's end until it executes its program. A socket is shut down for all
        // who have it.
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { for end in [reader, writer] { close(end) } }
        try #require(shutdown(reader, Int32(SHUT_RD)) == 0)
        #expect(throws: OutputFailure.closed) { try LineOutput(descriptor: writer).write("x\n") }
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
