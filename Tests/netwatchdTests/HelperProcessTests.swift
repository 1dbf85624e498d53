import CommandLineSupport
import FoundationEssentials
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// The executables that others start.
@Suite(.blocksItsThread, .timeLimit(.minutes(5)))
struct HelperProcessTests {
    @Test func `a helper gets no descriptor of this process but its own`() throws {
        let folder = try LabFolder()
        // As NIO opens its sockets: without SOCK_CLOEXEC.
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        #expect(socket > STDERR_FILENO)
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let output = open("\(folder.path)/output", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            close(input)
            close(output)
        }
        let helper = try HelperProcess.start(["/bin/ls", "/proc/self/fd"], input: input, output: output)
        #expect(try helper.wait() == 0)
        let names = try String(contentsOf: URL(filePath: "\(folder.path)/output"), encoding: .utf8)
            .split(separator: "\n")
        // The last is the folder that ls reads.
        #expect(names == ["0", "1", "2", "3"])
    }
}
