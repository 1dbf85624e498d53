import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// The servers that are asked whether the path leads to the internet, from `--validate` or from the file of `--validation`.
struct ValidatorConfiguration: Hashable, Sendable {
    /// The servers, as `--validate` takes them.
    var endpoints: [String]
    /// Whether metered paths are probed, too.
    var probesMeteredPaths = false
    /// The file with the only root certificates that are trusted; nil for those of the system.
    var roots: String?

    /// Creates a configuration.
    init(endpoints: [String], probesMeteredPaths: Bool = false, roots: String? = nil) {
        (self.endpoints, self.probesMeteredPaths, self.roots) = (endpoints, probesMeteredPaths, roots)
    }

    /// Reads the file of `--validation`.
    ///
    /// - Throws: An error that names the member at fault, and says how to write it.
    static func read(_ path: String) throws(ToolError) -> Self {
        let name = path.escapedForTerminal
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileContents.read(path, atMost: 1 << 20)
        } catch {
            throw .init("cannot read the validation's servers in '\(name)': \(error); name another file", exit: .usage)
        }
        do throws(ConfigurationError) { return try .init(parsing: bytes) } catch {
            throw .init(
                "the validation's servers in '\(name)' cannot be used: \(error.description.escapedForTerminal)",
                exit: .usage
            )
        }
    }

    /// Reads the text of the file.
    ///
    /// - Throws: The member at fault, and how to write it.
    init(parsing bytes: [UInt8]) throws(ConfigurationError) {
        let text: JSONText
        do throws(JSONError) { text = try JSONText(bytes[...]) } catch { throw .init("\(error)") }
        guard let members = text.members else { throw .init("it is no object; write {\"endpoints\": [\"https://…\"]}") }
        try ConfigurationError.check(members, known: ["endpoints", "metered", "roots"])
        endpoints = try Self.endpoints(members["endpoints"])
        if let metered = members["metered"] {
            guard let value = metered.boolean else { throw .init("metered: write true or false") }
            probesMeteredPaths = value
        }
        guard let roots = members["roots"] else { return }
        guard let path = roots.string, path.hasPrefix("/") else { throw .init("roots: write an absolute path") }
        self.roots = path
    }

    private static func endpoints(_ list: JSONText?) throws(ConfigurationError) -> [String] {
        guard let elements = list?.elements, !elements.isEmpty else {
            throw .init("endpoints: write a list with at least one server, such as \"https://status.example.com/204\"")
        }
        return try elements.enumerated().map { (index, element) throws(ConfigurationError) in
            guard let endpoint = element.string else { throw .init("endpoints[\(index)]: it is no string") }
            do throws(ArgumentError) { return try ValidatedServer.parse(endpoint) } catch {
                throw .init("endpoints[\(index)]: \(error)")
            }
        }
    }

    /// Returns the arguments of `netwatch-validate`.
    ///
    /// - Parameter monitor: The service's monitor, whose path they are to be about.
    /// - Returns: The arguments, without the executable.
    func arguments(for monitor: MonitorConfiguration) -> [String] {
        var arguments = endpoints.flatMap { ["--validate", $0] }
        if probesMeteredPaths { arguments.append("--validate-metered") }
        if let roots { arguments += ["--validate-cacert", roots] }
        if let file = monitor.namespace.file { arguments += ["--netns", file] }
        arguments += monitor.kindRules.flatMap { ["--kind", "\($0.pattern)=\($0.kind.rawValue)"] }
        arguments += monitor.expensiveInterfaces.flatMap { ["--expensive", $0] }
        return arguments + monitor.constrainedInterfaces.flatMap { ["--constrained", $0] }
    }
}

/// A server to ask, which `netwatch-validate` reads again.
enum ValidatedServer {
    /// Checks a server.
    ///
    /// - Returns: The text.
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> String {
        _ = try EndpointArgument.parse(text)
        return text
    }
}
