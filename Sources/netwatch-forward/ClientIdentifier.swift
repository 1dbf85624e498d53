import Crypto
import FleetCore

extension FleetNode {
    /// The client identifier for the broker, which differs between machines of one name in two groups or under two prefixes.
    ///
    /// A broker closes the connection of a client when another one connects with its identifier. Group and name may
    /// together be longer than a broker takes, and mosquitto 2.1 denies access to identifiers with a slash if a plugin
    /// checks it. Outside of the default group and prefix, the identifier is therefore a hash, of the 23 characters that
    /// every server has to take (MQTT-3.1.3-5).
    var clientID: String {
        let isDefault = prefix == FleetNode(name: name).prefix
        guard !isDefault || group != "default" else { return "nw-" + name }
        let hash = SHA256.hash(data: Array((isDefault ? "\(group)/\(name)" : base).utf8))
        let digits = hash.prefix(10).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "nw-" + digits.joined()
    }
}
