import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// `netwatch outbox add`: an item, on disk when the command ends.
struct AddCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a request, and print its number when it is on disk.",
        discussion: """
            The lane keeps the rules that it has; options about a lane change them for the items that wait, too. In the outbox of \
            another user, such as that of the system, the item's key is printed instead of its number, and the lane is changed \
            when the owner collects the item. There, an item for another host than its lane's gets a lane of its own, also with \
            --move-lane. Every user can read the \
            arguments of a command: a URL that is a secret is given in the first line of stdin.
            """
    )

    @OptionGroup var box: BoxOptions
    @OptionGroup var item: ItemFlags
    @OptionGroup var rules: LaneFlags
    @Option(
        parsing: .unconditional,
        help: .init("The body: text, @FILE for a file's contents, or - for stdin.", valueName: "text|@file|-"),
        transform: AddedBody.parse
    )
    var data: AddedBody?
    @Option(parsing: .unconditional, help: .init("The media type of the body.", valueName: "type"))
    var contentType = "application/json"
    @Flag(help: "Print a line of JSON.")
    var json = false
    @Argument(help: .init("The URL, with http:// or https://; - for the first line of stdin.", valueName: "url"))
    var url: String

    func execute() throws(ToolError) -> ExitStatus {
        let target = try AddedURL(url == "-" ? AddedURL.readStandardInput() : url)
        let (options, method) = (try item.options(), try item.requestMethod())
        let body = try data?.body(contentType) ?? .none
        let incoming = IncomingFolder(of: box.path)
        if incoming.isMeant {
            let lane = ForeignLane(
                item.lane ?? target.host,
                to: target.destination,
                rules.options(),
                changing: rules.changes,
                in: incoming
            )
            let key = try OutboxError.tool { try lane.request(method, target.reference, body, options) }
            return try StandardOutput.write((json ? JSONLine.object([("key", .text(key))]) : key) + "\n")
        }
        let storage = try box.createdStorage()
        let (name, rules) = (item.lane ?? target.host, rules)
        let id = try waiting {
            defer { storage.store.close() }
            let choice: OutboxLane.OptionsChoice = { known in
                if let known, known.destination != target.destination, !rules.moveLane {
                    throw target.conflict(with: known)
                }
                return rules.options(from: known?.options)
            }
            // Chosen before the body is copied, and again when the item is stored.
            let known = try await storage.lanes().first { $0.name == name }
            let lane = OutboxLane(
                name: name,
                destination: target.destination,
                options: try choice(known),
                storage: storage,
                choosing: choice
            )
            return try await lane.request(method, target.reference, body, options)
        }
        return try StandardOutput.write((json ? JSONLine.object([("item", .number(id.rawValue))]) : "\(id)") + "\n")
    }
}

/// The options of `add` about the item.
struct ItemFlags: ParsableArguments {
    @Option(help: .init("The lane; the URL's host by default.", valueName: "name"))
    var lane: String?
    @Option(name: [.customShort("X"), .long], help: .init("The method; POST by default.", valueName: "method"))
    var method = "POST"
    @Option(
        help: .init("The key; the same request with it is added once. Random by default.", valueName: "key")
    )
    var key: String?
    @Flag(help: "Send no key: the item ends as uncertain if it may have been processed.")
    var noKey = false
    @Option(
        help: .init(
            "The time after which it expires, such as 12h or 7d, which is the default; or never.",
            valueName: "time"
        ),
        transform: LifetimeArgument.parse
    )
    var expires = LifetimeArgument.after(.seconds(7 * 86_400))
    @Option(
        help: .init(
            "Do not send it before this moment, such as 2026-11-24T06:00:00Z, or for this time, such as 2h.",
            valueName: "moment"
        ),
        transform: NotBeforeArgument.parse
    )
    var notBefore: NotBeforeArgument?
    @Option(
        name: [.customShort("H"), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: .init("A header field, as 'Name: value'; repeatable.", valueName: "field")
    )
    var headers: [String] = []

    func validate() throws {
        guard key == nil || !noKey else { throw ValidationError("--key and --no-key contradict each other; give one") }
    }

    /// The method.
    func requestMethod() throws(ToolError) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw .init("'\(method.escapedForTerminal)' is no method; write a word such as POST or PUT", exit: .usage)
        }
        return method
    }

    /// The properties of the item.
    func options() throws(ToolError) -> ItemOptions {
        var options = ItemOptions(key: noKey ? .none : key.map { .custom($0) } ?? .random)
        options.lifetime = expires.lifetime
        options.notBefore = notBefore?.seconds
        for header in headers {
            let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                throw .init("'\(header.escapedForTerminal)' is no field; write 'Name: value'", exit: .usage)
            }
            let value = String(parts[1].drop { $0 == " " })
            guard HTTPField.isValidValue(value) else {
                throw .init("the value of '\(name)' has a control character; leave it out", exit: .usage)
            }
            options.headers[name] = options.headers[name].map { "\($0), \(value)" } ?? value
        }
        return options
    }
}

/// The options of `add` about the lane.
struct LaneFlags: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Send the lane's items one after the other, in their order.")
    var ordered: Bool?
    @Flag(help: "Take any response over plain http as the server's own.")
    var trustHTTP = false
    @Flag(help: "If the lane sends to another host, send it, with the items that wait, to this URL's host from now on.")
    var moveLane = false
    @OptionGroup var required: RequirementOptions

    /// The rules of a lane: those that it has, changed by the options that are given.
    func options(from known: LaneOptions? = nil) -> LaneOptions {
        var options = known ?? .init()
        if let ordered { options.order = ordered ? .ordered(isStrict: false) : .unordered(width: 8) }
        if trustHTTP { options.confirmation = .any }
        if required.requirement != .any { options.path = required.requirement }
        return options
    }

    /// The rules to which the options that are given belong.
    var changes: Set<LaneRule> {
        var changes: Set<LaneRule> = []
        if ordered != nil { changes.insert(.order) }
        if trustHTTP { changes.insert(.confirmation) }
        if required.requirement != .any { changes.insert(.path) }
        return changes
    }
}

/// The URL of an item, divided into the lane's destination and the reference.
struct AddedURL: Hashable {
    /// The scheme and the authority.
    let destination: String
    /// The host with its port, in place of a lane's name.
    let host: String
    /// The rest, without the slash in front of it and without a fragment.
    let reference: String

    /// Divides a URL.
    init(_ url: String) throws(ToolError) {
        guard let mark = url.firstRange(of: "://"), ["http", "https"].contains(url[..<mark.lowerBound].lowercased())
        else { throw Self.failure(url, "let it begin with https:// or http://") }
        let authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.isEmpty else { throw Self.failure(url, "the host is missing behind ://") }
        guard !authority.contains("@") else {
            throw .init("a password in the URL would be stored on disk; leave the user out", exit: .usage)
        }
        let rest = url[authority.endIndex...].prefix { $0 != "#" }
        (host, destination) = (String(authority), url[..<mark.lowerBound].lowercased() + "://" + authority)
        reference = Self.encoded(rest.first == "/" ? rest.dropFirst() : rest)
    }

    /// Reads a URL from the first line of stdin; a body may follow.
    static func readStandardInput() throws(ToolError) -> String {
        do throws(SystemError) {
            return String(decoding: try FileContents.readStandardInputLine(atMost: 64 << 10), as: UTF8.self)
        } catch {
            throw .init("cannot read the URL from the first line of stdin: \(error)", exit: .noInput)
        }
    }

    /// Percent-encodes what must not be in a URL (RFC 3986, 2.1); the rest stays as it is.
    private static func encoded(_ text: Substring) -> String {
        text.utf8.map { byte in
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "\"") { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }
        .joined()
    }

    private static func failure(_ url: String, _ what: String) -> ToolError {
        .init("'\(url.escapedForTerminal)' is no URL; \(what)", exit: .usage)
    }

    /// Returns the error for a lane with another destination, whose items would be sent elsewhere.
    func conflict(with lane: StoredLane) -> OutboxError {
        let what = "lane '\(lane.name)' sends to \(lane.destination), not to \(destination)"
        return .init(.invalidRequest, reason: "\(what): name another --lane, or move this one with --move-lane")
    }
}
