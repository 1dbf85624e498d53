import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// Downloads that are larger than the memory limit of the process.
@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), .timeLimit(.minutes(10)))
struct LargeDownloadTests {
    @Test func `a large file passes through little memory`() async throws {
        let (lab, nginx) = (try DownloadLab(), try Nginx())
        let size = Endurance.downloadSize
        // A sparse file takes no space on the disk.
        let path = try nginx.files.write("large", [UInt8]())
        #expect(truncate(path, off_t(size)) == 0)
        for target in [lab.path, "/dev/null"] {
            await #expect(processExitsWith: .success) {
                [
                    port = nginx.port as UInt16, target = target as String, size = size as Int,
                    record = "\(lab.folder.path)/peak" as String
                ] in
                let memory = try AnonymousMemory()
                let session = try HTTPSession(baseURL: "http://127.0.0.1:\(port)/", configuration: .lasting)
                let options = DownloadOptions(isSynced: false)
                let file = try await session.download("large", to: target, options: options).response().file
                #expect(file.size == Int64(size))
                try Data("\(memory.end())".utf8).write(to: URL(filePath: record))
            }
            let peak = try #require(
                lab.bytes("\(lab.folder.path)/peak").flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            )
            print("\(size >> 20) MiB to \(target): \(peak >> 10) KiB of anonymous memory at most")
            // A sanitizer's metadata take several times the memory that they describe.
            if LabHeap.bytesInUse > 0 { #expect(peak < 32 << 20) }
        }
        #expect(try lab.attributes[.size] as? Int == size)
    }
}
