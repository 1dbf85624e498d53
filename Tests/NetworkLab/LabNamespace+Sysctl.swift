import Glibc

extension LabNamespace {
    /// Writes a kernel setting of this namespace, such as `net.ipv4.conf.all.forwarding` (sysctl(8)).
    ///
    /// An interface's name may hold dots; write those as `/`, as sysctl(8) has it.
    package func setSysctl(_ name: String, to value: Int) throws {
        let path = Self.path(of: name)
        try run {
            let file = try OwnedDescriptor(systemCall("open \(path)") { open(path, O_WRONLY | O_CLOEXEC) })
            let text = Array("\(value)\n".utf8)
            try systemCall("write \(value) to \(path)") { write(file.number, text, text.count) }
        }
    }

    /// Reads a kernel setting of this namespace.
    package func sysctl(_ name: String) throws -> String {
        let path = Self.path(of: name)
        return try run {
            let file = try OwnedDescriptor(systemCall("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) })
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try systemCall("read \(path)") { read(file.number, &buffer, buffer.count) }
            return String(decoding: buffer.prefix(count).filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
    }

    /// `a.b.c` becomes /proc/sys/a/b/c; a `/` in the name stands for a dot.
    private static func path(of name: String) -> String {
        "/proc/sys/" + String(name.map { $0 == "." ? "/" : $0 == "/" ? "." : $0 })
    }
}
