import Glibc

/// The directory of the running executable, in which the tool's other executables are too.
package enum ExecutableDirectory {
    /// The path (proc_pid_exe(5)).
    package static let path: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:))
        return String(decoding: path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
    }()
}
