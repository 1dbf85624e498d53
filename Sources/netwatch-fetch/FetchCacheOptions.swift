import ArgumentParser
import CommandLineSupport
import NetwatchCore
import NetworkClient

/// The cache options of `netwatch fetch`.
struct FetchCacheOptions: ParsableArguments {
    @Option(
        help: .init(
            """
            Use the stored responses of this folder by the rules of HTTP (RFC 9111), and store others there. Several \
            processes may share it.
            """,
            valueName: "dir"
        ),
        completion: .directory
    )
    var cache: String?

    @Flag(
        help: "Use only stored responses, whatever their age: stale is better than nothing. Needs --cache."
    )
    var offline = false

    func validate() throws {
        guard cache != "" else { throw ValidationError("The name of the cache is empty; name a folder") }
        guard !offline || cache != nil else {
            throw ValidationError("--offline needs stored responses; name their folder with --cache")
        }
    }
}

extension FetchCacheOptions {
    /// Returns the cache for the session; nil for none.
    ///
    /// - Throws: The error for the user if the folder can't be used.
    func open() throws(ToolError) -> HTTPCache? {
        guard let cache else { return nil }
        do throws(HTTPError) {
            return try HTTPCache(folder: cache)
        } catch {
            throw .init("--cache: \(error.reason)".escapedForTerminal, exit: .usage)
        }
    }

    /// Sets the cache of a session.
    func apply(_ cache: HTTPCache?, to configuration: inout HTTPConfiguration) {
        configuration.cache = cache
        if offline { configuration.cachePolicy = .returnCacheDontLoad }
    }
}

extension DataResponse {
    /// The line that says that the response is stale; nil for a fresh one.
    var staleNote: String? {
        guard case .stale(let reason) = source, let age else { return nil }
        let words =
            switch reason {
            case .accepted, .policy: "as requested"
            case .revalidating: "it is being validated"
            case .serverFailed(let status): "the server responded with \(status)"
            case .unreachable: "the server can't be reached"
            case .noPath: "there is no path"
            }
        return "netwatch: the response is stale (\(words)); its age is \(age.components.seconds) s"
    }
}
