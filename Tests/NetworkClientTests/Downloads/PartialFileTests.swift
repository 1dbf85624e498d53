import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

struct PartialFileTests {
    @Test func `a file at its final path is not changed by another attempt`() throws {
        let lab = try DownloadLab()
        let file = PartialFile(try FileTarget(lab.path, .replace), .init())
        defer { file.close(isKept: false) }
        _ = try file.open()
        try file.restart(DownloadPart())
        try file.write(ByteBuffer(string: "abc"))
        try file.finish()
        #expect(throws: HTTPError.self) { try file.restart(DownloadPart()) }
        #expect(throws: HTTPError.self) { try file.finish() }
        #expect(lab.file == Array("abc".utf8))
        #expect(lab.names == ["file"])
    }
}
