package import MQTTCore
import NetwatchCore

/// The messages by which Home Assistant finds a machine: MQTT discovery, a configuration for each entity.
package struct HomeAssistantDiscovery: Hashable, Sendable {
    /// The first level of its topics, `homeassistant` unless Home Assistant is set up otherwise.
    package var prefix: String

    package init(prefix: String = "homeassistant") { self.prefix = prefix }

    /// Returns the configurations of a machine's entities.
    package func messages(of node: FleetNode, version: String) -> [MQTTPublish] {
        let id = Self.identifier(node)
        return Self.entities.map { entity in
            let topic = "\(prefix)/\(entity.component)/\(id)/\(entity.name)/config"
            return FleetMessage.retained(topic, payload(entity, id, node, version), "application/json")
        }
    }

    private struct Entity {
        let component: String
        let name: String
        let title: String
        let members: String
        let template: String
    }

    private static let entities = [
        Entity(
            component: "binary_sensor",
            name: "network",
            title: "Network",
            members: #""device_class":"connectivity","payload_on":"ON","payload_off":"OFF""#,
            template: "{{ 'ON' if value_json.data.status in ['wifi', 'cellular'] else 'OFF' }}"
        ),
        Entity(
            component: "sensor",
            name: "state",
            title: "Network state",
            members: #""device_class":"enum","options":["wifi","cellular","notReachable","unknown"]"#,
            template: "{{ value_json.data.status }}"
        ),
        Entity(
            component: "sensor",
            name: "interface",
            title: "Network interface",
            members: #""icon":"mdi:ethernet""#,
            template: "{{ value_json.data.path.interface.name if value_json.data.path.interface else 'none' }}"
        ),
    ]

    private func payload(_ entity: Entity, _ id: String, _ node: FleetNode, _ version: String) -> [UInt8] {
        let quoted = { (text: String) in "\"\(text.escapedForJSONAndTerminal)\"" }
        let online = "{{ 'online' if value_json.online else 'offline' }}"
        let members = [
            #""name":\#(quoted(entity.title)),"unique_id":\#(quoted("\(id)_\(entity.name)"))"#,
            #""state_topic":\#(quoted(node.stateTopic)),"value_template":\#(quoted(entity.template))"#, entity.members,
            #""availability_topic":\#(quoted(node.linkTopic)),"availability_template":\#(quoted(online))"#,
            #""device":{"identifiers":[\#(quoted(id))],"name":\#(quoted(node.name)),"manufacturer":"netwatch","#
                + #""model":\#(quoted(node.group)),"sw_version":\#(quoted(version))}"#,
            #""origin":{"name":"netwatch","sw_version":\#(quoted(version))}"#,
        ]
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    /// The node's name with the characters that Home Assistant takes in a topic and an identifier.
    private static func identifier(_ node: FleetNode) -> String {
        let name = "netwatch_\(node.group)_\(node.name)"
        return String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || "_-".contains($0) ? $0 : "_" })
    }
}
