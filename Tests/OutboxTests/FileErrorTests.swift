import Glibc
import HTTPLab
import NetworkClient
import OutboxCore
import Testing

@testable import Outbox

/// The errors of bodies that are files: those of the file end its item, those of the machine do not.
@Suite struct FileErrorTests {
    private func result(_ number: Int32) -> AttemptResult {
        .init(HTTPError(.bodyUnavailable, processing: .neverSent, reason: "it can't be read", errno: number))
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func `a file that can't be read for lack of descriptors or memory is not taken for a lost one`(number: Int32) {
        let error = FileSystem.error("read the body", "/a", number, .bodyUnavailable)
        #expect(error.code == .storageFailed)
        #expect(result(number) == .failure(.destination, mayBeProcessed: false))
    }

    @Test(arguments: [ENOENT, EACCES, EIO])
    func `a file that is missing, forbidden or damaged is lost`(number: Int32) {
        let error = FileSystem.error("read the body", "/a", number, .bodyUnavailable)
        #expect(error.code == .bodyUnavailable)
        #expect(result(number) == .failure(.item, mayBeProcessed: false))
    }

    @Test func `a missing file does not match the contents with which it was added`() throws {
        let folder = try LabFolder()
        let file = try folder.write("a", "contents")
        let check = try FileCheck(ofFileAt: file)
        #expect(try check.matches(fileAt: file) && check.holds(forFileAt: file))
        unlink(file)
        #expect(try !check.matches(fileAt: file) && !check.holds(forFileAt: file))
    }
}
