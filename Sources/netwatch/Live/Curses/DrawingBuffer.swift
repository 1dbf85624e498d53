import CLinux
import CommandLineSupport
import Glibc

/// Where ncurses writes to: a file in memory (memfd_create(2)), from which the bytes are taken.
///
/// ncurses waits for a terminal that takes nothing, and says nothing of one that has gone; a program that waits there
/// could not be ended any more. It keeps writing to a descriptor that first was the terminal, whose settings it reads.
final class DrawingBuffer {
    /// What ncurses is given.
    let file: UnsafeMutablePointer<FILE>
    private let descriptor: Int32
    private let memory: Int32

    /// Makes a stream to a terminal.
    init(_ device: TerminalDevice) throws(SystemError) {
        memory = try retryingOnInterrupt { memfd_create("netwatch-screen", netwatch_memfd_cloexec) }
        descriptor = try retryingOnInterrupt { fcntl(device.descriptor, F_DUPFD_CLOEXEC, 3) }
        guard let file = fdopen(descriptor, "w") else { throw .last }
        self.file = file
    }

    deinit {
        fclose(file)
        close(memory)
    }

    /// From now on what is written stays here.
    func detach() throws(SystemError) {
        fflush(file)
        _ = try retryingOnInterrupt { dup2(memory, descriptor) }
        _ = try retryingOnInterrupt { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Takes what was written.
    func take() -> [UInt8] {
        let length = lseek(memory, 0, SEEK_CUR)
        guard length > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { part, count in
            count = max(0, pread(memory, part.baseAddress, length, 0))
        }
        // The position is shared with the descriptor that is written to.
        lseek(memory, 0, SEEK_SET)
        return bytes
    }
}
