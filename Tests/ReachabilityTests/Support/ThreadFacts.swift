import Glibc
import Testing

/// The kernel's information about this process's threads and descriptors (proc(5)).
enum ThreadFacts {
    /// The calling thread's name.
    static var currentName: String { name("thread-self") }

    /// The names of the process's threads.
    static var names: [String] {
        entries("/proc/self/task").map { name("self/task/\($0)") }
    }

    /// Waits until the threads' names meet a condition, for 30 s at most; the kernel announces no thread's end.
    static func wait(
        _ sourceLocation: SourceLocation = #_sourceLocation,
        until isMet: ([String]) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isMet(names), ContinuousClock.now < deadline { await Task.yield() }
        #expect(isMet(names), "the threads are \(names)", sourceLocation: sourceLocation)
    }

    /// Waits until no more descriptors are open than before, for 30 s at most: the thread that releases the last owner
    /// of one may be delayed.
    static func waitForDescriptors(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) async {
        let deadline = ContinuousClock.now + .seconds(30)
        while descriptorCount > count, ContinuousClock.now < deadline { await Task.yield() }
        #expect(descriptorCount <= count, sourceLocation: sourceLocation)
    }

    /// The number of open descriptors, except the one that this uses.
    static var descriptorCount: Int { entries("/proc/self/fd").count - 1 }

    private static func name(_ thread: String) -> String {
        guard let file = fopen("/proc/\(thread)/comm", "r") else { return "" }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 32)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func entries(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
