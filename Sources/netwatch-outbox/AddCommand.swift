import ArgumentParser
import CommandLineSupport
import DurableStore
import NetwatchCore
import Outbox

/// `netwatch outbox add`: an item, on disk when the command ends.
struct AddCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a request, and print its number when it is on disk."
    )

    @OptionGroup var box: BoxOptions
    @Option(help: .init("The lane; the URL's host by default.", valueName: "name"))
    var lane: String?
    @Option(help: .init("The method; POST by default.", valueName: "method"))
    var method = "POST"
    @Option(help: .init("The body: text, or @FILE for a file's contents.", valueName: "data"))
    var data: String?
    @Option(help: .init("The media type of the body.", valueName: "type"))
    var contentType = "application/json"
    @Option(
        help: .init("The key; the same request with the same key is added once. Random by default.", valueName: "key")
    )
    var key: String?
    @Flag(help: "Send no key: the item ends as uncertain if it may have been processed.")
    var noKey = false
    @Option(help: .init("The time after which it expires, such as 12h; 168h by default.", valueName: "duration"))
    var expires = "168h"
    @Option(
        name: .customLong("header"),
        help: .init("A header field, as 'Name: value'; repeatable.", valueName: "field")
    )
    var headers: [String] = []
    @Flag(help: "Send the lane's items one after the other, in their order.")
    var ordered = false
    @Flag(help: "Take any response over plain http as the server's own.")
    var trustHTTP = false
    @Argument(help: .init("The URL, with http:// or https://.", valueName: "url"))
    var url: String

    func execute() throws(ToolError) -> ExitStatus {
        let (destination, reference) = try target()
        let item = try options()
        let body = try body()
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw .init("'\(method.escapedForTerminal)' is no method", exit: .usage)
        }
        let storage = try box.createdStorage()
        let rules = LaneOptions(
            order: ordered ? .ordered(isStrict: false) : .unordered(width: 8),
            confirmation: trustHTTP ? .any : .tls
        )
        let name = lane ?? String(destination.split(separator: "/").last ?? "default")
        let box = OutboxLane(name: name, destination: destination, options: rules, storage: storage)
        let id = try waiting {
            let id = try await box.request(method, reference, body, item)
            storage.store.close()
            return id
        }
        return try StandardOutput.write("\(id)\n")
    }

    /// Divides the URL into the lane's destination and the rest.
    private func target() throws(ToolError) -> (destination: String, reference: String) {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "https:" || parts[0] == "http:", parts[1].isEmpty, !parts[2].isEmpty else {
            throw .init("'\(url.escapedForTerminal)' is no URL; it begins with https:// or http://", exit: .usage)
        }
        return ("\(parts[0])//\(parts[2])", parts.count == 4 ? String(parts[3]) : "")
    }

    private func options() throws(ToolError) -> ItemOptions {
        var options = ItemOptions(key: noKey ? .none : key.map { .custom($0) } ?? .random)
        do throws(ArgumentError) {
            options.lifetime = try DurationArgument.parse(expires)
        } catch {
            throw .init("the value of --expires can't be used: \(error)", exit: .usage)
        }
        for header in headers {
            let parts = header.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                throw .init("'\(header.escapedForTerminal)' is no field; write 'Name: value'", exit: .usage)
            }
            options.headers[name] = String(parts[1].drop { $0 == " " })
        }
        return options
    }

    private func body() throws(ToolError) -> OutboxBody {
        guard let data else { return .none }
        if data.hasPrefix("@") { return .file(String(data.dropFirst()), .copy, contentType: contentType) }
        return .text(data, contentType: contentType)
    }
}
