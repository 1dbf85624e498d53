import CommandLineSupport
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// The servers that are asked whether the path leads to the internet, from the file of `--validation`.
struct ValidatorConfiguration: Hashable, Sendable {
    /// The servers, as `--validate` takes them.
    let endpoints: [String]
    /// Whether metered paths are probed, too.
    let probesMeteredPaths: Bool
    /// The file with the only root certificates that are trusted; nil for those of the system.
    let roots: String?

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
        probesMeteredPaths = try Self.probesMeteredPaths(members["metered"])
        roots = try Self.roots(members["roots"])
    }

    private static func probesMeteredPaths(_ text: JSONText?) throws(ConfigurationError) -> Bool {
        guard let text else { return false }
        guard let value = text.boolean else { throw .init("metered: write true or false") }
        return value
    }

    private static func roots(_ text: JSONText?) throws(ConfigurationError) -> String? {
        guard let text else { return nil }
        guard let path = text.string, path.hasPrefix("/") else { throw .init("roots: write an absolute path") }
        return path
    }

    private static func endpoints(_ list: JSONText?) throws(ConfigurationError) -> [String] {
        guard let elements = list?.elements, !elements.isEmpty else {
            throw .init("endpoints: write a list with at least one server, such as \"https://status.example.com/204\"")
        }
        return try elements.enumerated().map { (index, element) throws(ConfigurationError) in
            guard let endpoint = element.string else { throw .init("endpoints[\(index)]: it is no string") }
            do throws(ArgumentError) { _ = try EndpointArgument.parse(endpoint) } catch {
                throw .init("endpoints[\(index)]: \(error)")
            }
            return endpoint
        }
    }

    /// The arguments of `netwatch-validate`.
    var arguments: [String] {
        endpoints.flatMap { ["--validate", $0] } + (probesMeteredPaths ? ["--validate-metered"] : [])
            + (roots.map { ["--validate-cacert", $0] } ?? [])
    }
}
