import Glibc

/// Two ends of a stream that no other program inherits; a pipe could not be made so in one step.
struct Stream {
    /// Where this process reads.
    let start: OwnedDescriptor
    /// Where the program writes.
    let end: OwnedDescriptor

    init() throws(LabError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        start = OwnedDescriptor(ends[0])
        end = OwnedDescriptor(ends[1])
    }

    /// Waits for more, and gives it; nothing at the stream's end.
    func read() throws(LabError) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = try systemCall("read") { Glibc.read(start.number, &buffer, buffer.count) }
        return buffer.prefix(count)
    }
}
