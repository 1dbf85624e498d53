/// The rules that keep web pages from reading a service on loopback TCP.
///
/// A page of any site can make a browser send requests to 127.0.0.1, and a name of its own can be made to resolve to that
/// address (DNS rebinding). A browser cannot be made to send a false `Host` or `Origin`.
package struct AccessRules: Hashable, Sendable {
    private let hosts: Set<String>
    private let origins: Set<String>

    /// Creates the rules of a listener.
    ///
    /// - Parameters:
    ///   - port: The port that it listens on.
    ///   - origins: The origins whose pages may read responses, each as `Origin` has it.
    package init(port: UInt16, origins: [String] = []) {
        let names = ["localhost", "127.0.0.1", "[::1]"]
        // A client leaves out the port that its scheme implies (RFC 9110, 4.2.1).
        hosts = Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
        self.origins = Set(origins)
    }

    /// Checks where a request comes from.
    ///
    /// - Returns: The foreign origin whose page may read the response; nil if there is none to name.
    /// - Throws: ``RequestRefusal``: 400 or 421 for the host, 403 for the origin.
    package func check(_ head: RequestHead) throws(RequestRefusal) -> String? {
        let host = try single("host", of: head, 400)
        guard let host else { throw .init(400, "the field Host is missing; write Host: \(example)") }
        guard hosts.contains(host.lowercased()) else {
            throw .init(
                421,
                "this service has no name but \(hosts.sorted().joined(separator: ", ")); write one as Host"
            )
        }
        guard let origin = try single("origin", of: head, 403), origin != "http://\(host.lowercased())" else {
            return nil
        }
        guard origins.contains(origin) else {
            throw .init(403, "pages of this origin may not read events; allow it by 'netwatch serve --origin URL'")
        }
        return origin
    }

    private var example: String { hosts.sorted().last ?? "localhost" }

    private func single(_ name: String, of head: RequestHead, _ status: Int) throws(RequestRefusal) -> String? {
        let values = head.values(name)
        guard values.count <= 1 else { throw .init(status, "the field \(name) is given more than once") }
        return values.first
    }
}

extension AccessRules {
    /// Reads an origin (RFC 6454, 6.2), as `Origin` has it: `https://grafana.example` or `http://localhost:3000`.
    ///
    /// - Returns: The origin; nil if the text has a path, a user, or another scheme than `http` and `https`.
    package static func origin(_ text: String) -> String? {
        let schemes = ["https://", "http://"]
        guard let scheme = schemes.first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(scheme.count).utf8
        let isHostByte = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || ".-[]:_".utf8.contains(byte)
        }
        guard !rest.isEmpty, rest.allSatisfy(isHostByte) else { return nil }
        let isDefault = text.hasSuffix(scheme == "https://" ? ":443" : ":80")
        return isDefault ? nil : text
    }
}
