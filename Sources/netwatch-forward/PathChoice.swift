import MQTTClient
import NetwatchCore
import NetworkClient

/// Which path to the broker is used.
struct PathChoice: Sendable {
    /// The broker's name or address.
    let host: String
    /// The interface or source address that the user chose.
    let binding: LocalBinding
    let avoidsCellular: Bool

    /// The route of a client that has no information about paths.
    var unknownRoute: MQTTClient.Route { avoidsCellular ? .unavailable : .through(binding, path: "unknown") }

    /// The resource of the event service that says how the broker is reached.
    var target: String {
        let isPlain = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        let text = host.utf8.map { byte in
            isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "/v1/paths/" + text.joined()
    }

    /// Returns the route by the object of that resource; nil if the object says nothing about paths.
    func route(_ object: [UInt8]) -> MQTTClient.Route? {
        guard let members = (try? JSONText(object[...]))?.members, let list = members["paths"]?.elements else {
            return nil
        }
        let paths = list.compactMap { Path($0) }
        guard avoidsCellular else { return .through(binding, path: paths.map(\.text).joined(separator: ",")) }
        guard let path = paths.first(where: { $0.status == "wifi" }), let interface = path.interface else {
            return .unavailable
        }
        return .through(.interface(interface), path: path.text)
    }

    /// The path to one address.
    private struct Path {
        let status: String
        let interface: String?
        let text: String

        init?(_ object: JSONText) {
            guard let members = object.members, let status = members["status"]?.string else { return nil }
            self.status = status
            interface = members["interface"]?.members?["name"]?.string
            let parts = [status, interface, members["gateway"]?.string, members["source"]?.string]
            text = parts.map { $0 ?? "-" }.joined(separator: " ")
        }
    }
}
