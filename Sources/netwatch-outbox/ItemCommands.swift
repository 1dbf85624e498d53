import ArgumentParser
import CommandLineSupport
import DurableStore
import Outbox

/// The arguments of commands about items.
struct ItemArguments: ParsableArguments {
    @OptionGroup var box: BoxOptions
    @Argument(help: .init("The numbers of the items.", valueName: "id"), transform: ItemNumberArgument.parse)
    var ids: [Int64]

    /// Carries out a command on each item, up to the first error.
    func perform(_ command: BoxStorage.Command) throws(ToolError) -> ExitStatus {
        let storage = try box.storage()
        let ids = ids
        try waiting {
            for id in ids { try await storage.perform(command, on: id) }
            storage.store.close()
        }
        return .success
    }
}

/// Reads the number of an item.
enum ItemNumberArgument {
    /// Reads a number.
    ///
    /// - Throws: ``ArgumentError`` that says where the numbers are.
    static func parse(_ text: String) throws(ArgumentError) -> Int64 {
        guard let number = Int64(text), number > 0 else {
            throw .init("it is not the number of an item, such as 3; 'netwatch outbox list' shows the numbers")
        }
        return number
    }
}

/// `netwatch outbox retry`: no longer delays an item.
struct RetryCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(commandName: "retry", abstract: "Send items without further delay.")
    @OptionGroup var arguments: ItemArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.perform(.retry) }
}

/// `netwatch outbox drop`: removes an item.
struct DropCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(commandName: "drop", abstract: "Remove items without sending them.")
    @OptionGroup var arguments: ItemArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.perform(.drop) }
}

/// `netwatch outbox hold`: holds an item back.
struct HoldCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold items back until they are released."
    )
    @OptionGroup var arguments: ItemArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.perform(.hold) }
}

/// `netwatch outbox release`: releases an item.
struct ReleaseCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Release items that are held back."
    )
    @OptionGroup var arguments: ItemArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.perform(.release) }
}

/// The arguments of commands about a lane.
struct LaneArguments: ParsableArguments {
    @OptionGroup var box: BoxOptions
    @Argument(help: .init("The name of the lane.", valueName: "lane"))
    var lane: String

    func setPaused(_ isPaused: Bool) throws(ToolError) -> ExitStatus {
        let storage = try box.storage()
        let lane = lane
        try waiting {
            try await storage.setPaused(isPaused, lane: lane)
            storage.store.close()
        }
        return .success
    }
}

/// `netwatch outbox pause`: stops a lane.
struct PauseCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(commandName: "pause", abstract: "Pause a lane until it is resumed.")
    @OptionGroup var arguments: LaneArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.setPaused(true) }
}

/// `netwatch outbox resume`: continues a lane.
struct ResumeCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a lane, and end its pause after failures."
    )
    @OptionGroup var arguments: LaneArguments
    func execute() throws(ToolError) -> ExitStatus { try arguments.setPaused(false) }
}
