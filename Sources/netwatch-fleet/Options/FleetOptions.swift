import ArgumentParser
import BrokerCommandLine
import CommandLineSupport
import FleetCore
import LinuxSystem
import MQTTCore
import NetwatchCore

/// Which machines are shown, and how they are joined.
struct FleetOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init("The first levels of the topics.", valueName: "topic"),
        transform: TopicArgument.parseLevels
    )
    var prefix = "netwatch"

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Read only the machines of this group. Repeatable.", valueName: "name"),
        transform: TopicArgument.parse
    )
    var group: [String] = []

    @Option(
        name: .customLong("where"),
        parsing: .unconditionalSingleValue,
        help: .init("Show only machines that meet the conditions. Repeatable.", valueName: "conditions"),
        transform: FilterArgument.parse
    )
    var filters: [FleetFilter] = []

    @Option(
        name: .customLong("group-by"),
        parsing: .unconditional,
        help: .init("Count machines together by group, label.NAME, state or why.", valueName: "field"),
        transform: GroupingArgument.parse
    )
    var grouping: FleetGrouping?

    @Option(
        parsing: .unconditional,
        help: .init("Expect the machines in this file: a line each, GROUP/NODE and labels.", valueName: "file"),
        completion: .file()
    )
    var inventory: String?

    /// The conditions of all filters.
    var filter: FleetFilter {
        var all = FleetFilter.all
        for filter in filters { all.add(filter) }
        return all
    }

    /// The topics, and at which QoS they are read.
    var subscriptions: [MQTTSubscription] {
        (group.isEmpty ? ["+"] : group).flatMap { group in
            [
                MQTTSubscription("\(prefix)/\(group)/+/link", qos: .atMostOnce),
                .init("\(prefix)/\(group)/+/state", qos: .atMostOnce),
                .init("\(prefix)/\(group)/+/events", qos: .atLeastOnce),
            ]
        }
    }

    /// Reads the file of the machines that are expected; nil without one.
    func readInventory() throws(ToolError) -> FleetInventory? {
        guard let inventory else { return nil }
        let name = inventory.escapedForTerminal
        let text: String
        do throws(SystemError) {
            text = String(decoding: try FileContents.read(inventory, atMost: 64 << 20), as: UTF8.self)
        } catch {
            throw .init("cannot read the inventory '\(name)': \(error); check --inventory", exit: .usage)
        }
        do throws(FleetInventoryError) { return try FleetInventory(parsing: text) } catch {
            throw .init("the inventory '\(name)' has an error: \(error)", exit: .badData)
        }
    }
}

/// Reads the value of `--where`.
enum FilterArgument {
    /// Reads conditions.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> FleetFilter {
        do throws(FleetFilterError) { return try FleetFilter(parsing: text) } catch {
            throw .init("at character \(error.offset + 1): \(error.problem)")
        }
    }
}

/// Reads the value of `--group-by`.
enum GroupingArgument {
    /// Reads a field.
    ///
    /// - Throws: ``ArgumentError`` that says which there are.
    static func parse(_ text: String) throws(ArgumentError) -> FleetGrouping {
        guard let grouping = FleetGrouping(parsing: text) else {
            throw .init("machines can't be counted by it; write group, state, why, or label.NAME such as label.site")
        }
        return grouping
    }
}
