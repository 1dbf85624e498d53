import Glibc

extension LabNamespace {
    /// The number of packets that an interface has sent (proc(5), `/proc/net/dev`).
    package func sentPackets(_ interface: String) throws -> UInt64 {
        let path = "/proc/thread-self/net/dev"
        let text = try run {
            let file = try OwnedDescriptor(systemCall("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) })
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try systemCall("read \(path)") { read(file.number, &buffer, buffer.count) }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        for line in text.split(separator: "\n") {
            let fields = line.split { $0 == " " || $0 == ":" }
            guard fields.first == interface[...], fields.count > 10, let packets = UInt64(fields[10]) else { continue }
            return packets
        }
        throw LabError("count the packets of \(interface)", errno: ENODEV)
    }
}
