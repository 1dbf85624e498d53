import Glibc
import HTTPLab
import Testing

@testable import Outbox

/// Files of the spool between their creation and the row that names them.
@Suite struct SpoolTests {
    private let folder: LabFolder
    private var path: String { "\(folder.path)/draft" }

    init() throws { folder = try LabFolder() }

    private func opened() throws -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        return file
    }

    @Test func `a draft is not used if a sweep removed it before it was locked`() throws {
        let draft = Spool.Draft(name: "draft", path: path, descriptor: try opened())
        #expect(unlink(path) == 0)
        #expect(!draft.lock())
        // A file that was made later belongs to another draft, also if it has the same name.
        close(try opened())
        #expect(!draft.lock())
    }

    @Test func `a draft is not used while a sweep is about to remove it`() throws {
        let draft = Spool.Draft(name: "draft", path: path, descriptor: try opened())
        let sweep = try opened()
        #expect(flock(sweep, LOCK_EX) == 0)
        #expect(!draft.lock())
        // Closing alone does not unlock it while a process is starting, which has the descriptor until it executes its program.
        #expect(flock(sweep, LOCK_UN) == 0)
        close(sweep)
        #expect(draft.lock())
    }

    @Test func `a file that another process has locked is copied instead of linked`() throws {
        let source = try folder.write("source", [UInt8](repeating: 7, count: 100_000))
        let spool = Spool(folder: folder.path + "/spool")
        #expect(mkdir(spool.folder, 0o700) == 0)
        let other = open(source, O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        let draft = try spool.take(source, moves: true)
        var (copy, original) = (stat(), stat())
        #expect(stat(draft.path, &copy) == 0 && stat(source, &original) == 0)
        #expect(copy.st_size == 100_000 && copy.st_ino != original.st_ino)
        draft.commit()
        #expect(access(source, F_OK) != 0)
    }
}
