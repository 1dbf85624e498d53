/// Holds a URL against what the tool can do with it, before anything is read or made.
enum FetchTarget {
    /// Throws for what can't be asked.
    ///
    /// - Parameters:
    ///   - url: As the user wrote it.
    ///   - isPinned: Whether the server's key is pinned, which plain HTTP shows none of.
    /// - Throws: What to tell the user.
    static func check(_ url: String, isPinned: Bool) throws(ToolError) {
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
        let authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw .init(
                "a URL's user name and password are not sent; leave them out and give -H 'Authorization: ...'",
                curl: .badURL
            )
        }
    }
}
