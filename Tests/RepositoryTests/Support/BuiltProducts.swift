import Glibc

/// The products that were built with the tests.
enum BuiltProducts {
    /// The directory of the test bundle that runs.
    static let directory: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let runner = String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "/" + runner.split(separator: "/").dropLast().joined(separator: "/")
    }()

    /// The path of an executable.
    static func path(of name: String) -> String { "\(directory)/\(name)" }
}
