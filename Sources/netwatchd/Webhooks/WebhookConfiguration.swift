import CommandLineSupport
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// The webhooks of the service, as the file of `--webhooks` describes them in JSON.
struct WebhookConfiguration: Hashable, Sendable {
    /// The folder of the outbox that delivers the messages.
    let outbox: String
    /// The webhooks.
    let webhooks: [Webhook]

    /// Reads the file.
    ///
    /// - Throws: An error that names the member at fault, and says how to write it.
    static func read(_ path: String) throws(ToolError) -> Self {
        let name = path.escapedForTerminal
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileContents.read(path, atMost: 1 << 20)
        } catch {
            throw .init("cannot read the webhooks in '\(name)': \(error); name another file", exit: .usage)
        }
        do throws(ConfigurationError) {
            return try .init(parsing: bytes) { (path) throws(ConfigurationError) in
                do throws(SystemError) {
                    return try FileContents.read(path, atMost: 4096)
                } catch {
                    throw .init("secretFile: cannot read '\(path)': \(error)")
                }
            }
        } catch {
            throw .init(
                "the webhooks in '\(name)' cannot be used: \(error.description.escapedForTerminal)",
                exit: .usage
            )
        }
    }

    /// Reads the text of the file.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - contents: Reads the file of a secret.
    /// - Throws: The member at fault, and how to write it.
    init(parsing bytes: [UInt8], contents: (String) throws(ConfigurationError) -> [UInt8]) throws(ConfigurationError) {
        let text: JSONText
        do throws(JSONError) { text = try JSONText(bytes[...]) } catch { throw .init("\(error)") }
        guard let members = text.members else {
            throw .init("it is no object; write {\"outbox\": …, \"webhooks\": […]}")
        }
        try ConfigurationError.check(members, known: ["outbox", "webhooks"])
        guard let outbox = members["outbox"]?.string, outbox.hasPrefix("/") else {
            throw .init("outbox: write the absolute path of the outbox's directory, such as /var/lib/netwatch/outbox")
        }
        guard let elements = members["webhooks"]?.elements, !elements.isEmpty else {
            throw .init("webhooks: write a list with at least one object")
        }
        self.outbox = outbox
        webhooks = try elements.enumerated().map { (index, element) throws(ConfigurationError) in
            guard let members = element.members else { throw .init("webhooks[\(index)]: it is no object") }
            do throws(ConfigurationError) {
                return try Webhook(members, contents)
            } catch {
                throw .init("webhooks[\(index)].\(error)")
            }
        }
        let names = webhooks.map(\.name)
        guard Set(names).count == names.count else { throw .init("webhooks: two have the same name; rename one") }
    }
}

/// A receiver of events.
struct Webhook: Hashable, Sendable {
    /// The name, which is part of the keys of its messages and of its lane in the outbox.
    let name: String
    /// The URL to which messages are posted.
    let url: String
    /// Whether any response counts as the host's, although a captive portal can respond in its place over plain http.
    let trustsHTTP: Bool
    /// The states of which events are sent.
    let states: Set<ReachabilityStatus>
    /// The events that are sent.
    let events: Events
    /// The body; nil for a CloudEvent.
    let template: LineTemplate?
    /// The media type of the body.
    let contentType: String
    /// The key of signatures; nil for none.
    let secret: [UInt8]?

    /// Kinds of events.
    enum Events: String, Hashable, Sendable {
        /// Those that change the state.
        case state
        /// Those that change the state, or the verdict on the path.
        case validation
        /// Every one.
        case all
    }

    private static let members: Set = [
        "name", "url", "trustHTTP", "states", "events", "template", "contentType", "secretFile",
    ]

    init(
        _ members: [String: JSONText],
        _ contents: (String) throws(ConfigurationError) -> [UInt8]
    ) throws(ConfigurationError) {
        try ConfigurationError.check(members, known: Self.members)
        name = try Self.name(members["name"])
        trustsHTTP = try Self.trustsHTTP(members["trustHTTP"])
        url = try Self.url(members["url"], trustsHTTP: trustsHTTP)
        states = try Self.states(members["states"])
        events = try Self.events(members["events"])
        template = try Self.template(members["template"])
        let usual = template == nil ? "application/cloudevents+json" : "application/json"
        contentType = try Self.contentType(members["contentType"]) ?? usual
        guard let file = members["secretFile"] else {
            secret = nil
            return
        }
        guard let path = file.string, path.hasPrefix("/") else { throw .init("secretFile: write an absolute path") }
        secret = try WebhookSignature.secret(in: try contents(path))
    }

    private static func name(_ text: JSONText?) throws(ConfigurationError) -> String {
        guard let name = text?.string, !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ isNameByte($0) })
        else { throw .init("name: write up to 64 letters, digits, '-' and '_'") }
        return name
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func trustsHTTP(_ value: JSONText?) throws(ConfigurationError) -> Bool {
        guard let value else { return false }
        guard let boolean = value.boolean else { throw .init("trustHTTP: write true or false") }
        return boolean
    }

    private static func url(_ text: JSONText?, trustsHTTP: Bool) throws(ConfigurationError) -> String {
        guard let url = text?.string, url.hasPrefix("https://") || url.hasPrefix("http://"),
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .init("url: write a URL that begins with https:// or http://") }
        let rest = url.drop { $0 != ":" }.dropFirst("://".count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.isEmpty else { throw .init("url: the host is missing behind ://") }
        guard !authority.contains("@") else {
            throw .init("url: a user or a password in it would be stored on disk; leave them out")
        }
        // The outbox appends the path to the host, and takes none that looks like a URL of its own.
        let path = rest[authority.endIndex...]
        guard !["//", "/http:", "/https:"].contains(where: { path.hasPrefix($0) }) else {
            throw .init("url: write a path that begins with neither // nor another URL")
        }
        guard trustsHTTP || url.hasPrefix("https://") || IPAddress.isLoopback(authority: authority) else {
            let fix = "write https://, or \"trustHTTP\": true if no portal can be on the way to it"
            throw .init("url: over plain http, any captive portal can respond in place of the host; \(fix)")
        }
        return url
    }

    private static func states(_ list: JSONText?) throws(ConfigurationError) -> Set<ReachabilityStatus> {
        guard let list else { return Set(ReachabilityStatus.allCases) }
        let names = ReachabilityStatus.allCases.map(\.name).joined(separator: ", ")
        let states = list.elements?.map { $0.string.flatMap { ReachabilityStatus(name: $0) } } ?? [nil]
        guard !states.isEmpty, !states.contains(nil) else { throw .init("states: write a list of \(names)") }
        return Set(states.compactMap(\.self))
    }

    private static func events(_ text: JSONText?) throws(ConfigurationError) -> Events {
        guard let text else { return .state }
        guard let events = text.string.flatMap(Events.init) else {
            throw .init(
                "events: write \"state\" for changes of the state, \"validation\" for those of the verdict, too, or \"all\""
            )
        }
        return events
    }

    private static func template(_ text: JSONText?) throws(ConfigurationError) -> LineTemplate? {
        guard let text else { return nil }
        guard let template = text.string, !template.hasPrefix("@") else {
            throw .init("template: write a text that does not begin with '@'")
        }
        do throws(TemplateError) { return try LineTemplate(template) } catch { throw .init("template: \(error)") }
    }

    private static func contentType(_ text: JSONText?) throws(ConfigurationError) -> String? {
        guard let text else { return nil }
        guard let type = text.string, type.contains("/"), type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .init("contentType: write a media type such as application/json")
        }
        return type
    }
}
