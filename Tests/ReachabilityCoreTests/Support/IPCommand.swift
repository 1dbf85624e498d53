import Foundation
import Glibc
import NetworkLab

/// Runs ip(8) and other commands in a namespace.
enum IPCommand {
    /// Runs a shell script; its standard error is the error's text.
    static func script(_ text: String, in lab: LabNamespace) throws {
        let output = try run("(\(text)\n) 2>&1", in: lab)
        guard output.isEmpty else { throw CommandError(output: output) }
    }

    /// The output of `ip -j`, with each object flattened (`linkinfo.info_kind`) and limited to the given fields.
    ///
    /// Numbers are printed instead of names (`-N`); null, as for a flag, becomes an empty text.
    static func objects(_ arguments: String, _ fields: Set<String>, in lab: LabNamespace) throws -> [[String: String]] {
        let output = try run("ip -N -j \(arguments)", in: lab)
        let json = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]] ?? []
        return json.map { object in
            var flat: [String: String] = [:]
            flatten(object, "", into: &flat)
            return flat.filter { fields.contains($0.key.filter { !$0.isNumber }) }
        }
    }

    private static func run(_ command: String, in lab: LabNamespace) throws -> String {
        let pipe = try lab.run { popen(command, "r") }
        guard let pipe else { throw CommandError(output: "popen: errno \(errno)") }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func flatten(_ value: Any, _ path: String, into flat: inout [String: String]) {
        let prefix = path.isEmpty ? "" : path + "."
        if let object = value as? [String: Any] {
            for (key, inner) in object { flatten(inner, prefix + key, into: &flat) }
        } else if let texts = value as? [String] {
            if !texts.isEmpty { flat[path] = texts.sorted().joined(separator: " ") }
        } else if let list = value as? [Any] {
            for (position, inner) in list.enumerated() { flatten(inner, prefix + "\(position)", into: &flat) }
        } else {
            flat[path] = value is NSNull ? "" : "\(value)"
        }
    }
}

/// The failure of a command.
struct CommandError: Error {
    var output: String
}
