import Glibc
import NetworkLab
import Testing

/// The kernel's information about this process's threads and descriptors (proc(5)).
enum ThreadFacts {
    /// The calling thread's name.
    static var currentName: String { name("thread-self") }

    /// The names of the process's threads.
    static var names: [String] {
        entries("/proc/self/task").map { name("self/task/\($0)") }
    }

    /// Waits until the threads' names meet a condition, for 120 s at most; the kernel announces no thread's end.
    static func wait(
        _ sourceLocation: SourceLocation = #_sourceLocation,
        until isMet: ([String]) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .seconds(120)
        var last = names
        while !isMet(last), ContinuousClock.now < deadline {
            await Polling.pause()
            last = names
        }
        #expect(isMet(last), "the threads are \(last)", sourceLocation: sourceLocation)
    }

    /// Has libdispatch open the timers of the clocks of `Task.sleep`, which it does otherwise at any later time: only a timer
    /// that has not expired when its thread sees it needs one.
    static func startClocks(_ sourceLocation: SourceLocation = #_sourceLocation) async {
        Task { try? await Task.sleep(for: .seconds(3600), clock: .continuous) }
        Task { try? await Task.sleep(for: .seconds(3600), clock: .suspending) }
        let deadline = ContinuousClock.now + .seconds(120)
        while timers < 2, ContinuousClock.now < deadline { await Polling.pause() }
        #expect(timers >= 2, sourceLocation: sourceLocation)
    }

    /// Waits until no more descriptors are open than before, for 120 s at most: the thread that releases the last owner
    /// of one may be delayed.
    static func waitForDescriptors(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) async {
        let deadline = ContinuousClock.now + .seconds(120)
        while descriptorCount > count, ContinuousClock.now < deadline { await Polling.pause() }
        let all = descriptors
        #expect(descriptorCount <= count, "\(count) before, now \(all)", sourceLocation: sourceLocation)
    }

    /// The number of open descriptors, except the one that this uses.
    static var descriptorCount: Int { entries("/proc/self/fd").count - 1 }

    private static var timers: Int { descriptors.count { $0.hasSuffix("[timerfd]") } }

    /// What the open descriptors lead to.
    private static var descriptors: [String] {
        entries("/proc/self/fd").map { descriptor in
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
            return "\(descriptor): \(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self))"
        }
    }

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
