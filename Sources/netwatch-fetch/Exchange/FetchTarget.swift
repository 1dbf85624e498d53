import CommandLineSupport
import NetwatchCore

/// Holds a URL against what the tool can do with it, before anything is read or made.
enum FetchTarget {
    /// Throws for what can't be asked.
    ///
    /// - Parameters:
    ///   - url: As the user wrote it.
    ///   - isPinned: Whether the server's key is pinned, which plain HTTP shows none of.
    ///   - hasUser: Whether it is said already as whom to ask, so that the URL need not.
    /// - Throws: What to tell the user.
    static func check(_ url: String, isPinned: Bool, hasUser: Bool) throws(ToolError) {
        guard let mark = url.firstRange(of: "://") else { return }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            let name = scheme.escapedForTerminal
            throw .init(
                "'\(name)' can't be asked; let the URL begin with http:// or https://",
                curl: .unsupportedScheme
            )
        }
        guard !isPinned || scheme == "https" else {
            throw .init(
                "--pin is of no use with http, which shows no key; let the URL begin with https://",
                exit: .usage
            )
        }
        let authority = url.utf8[mark.upperBound...].prefix { !"/?#".utf8.contains($0) }
        guard !hasUser || !authority.contains(UInt8(ascii: "@")) else {
            throw .init("there are two users; leave out --user, or the one in the URL", exit: .usage)
        }
    }
}
