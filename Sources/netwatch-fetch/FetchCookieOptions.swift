import ArgumentParser
import CommandLineSupport
import NetwatchCore
import NetworkClient

/// The cookie options of `netwatch fetch`, which have curl's meaning.
struct FetchCookieOptions: ParsableArguments {
    @Option(
        name: [.customShort("b", allowingJoined: true), .customLong("cookie")],
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Send these cookies, or those of a file that belong to the URL; then keep those of responses too. Without '=' \
            it is a file (Netscape format, as curl's). Repeatable.
            """,
            valueName: "name=value|file"
        ),
        completion: .file()
    )
    var cookie: [String] = []

    @Option(
        name: [.customShort("c", allowingJoined: true), .customLong("cookie-jar")],
        parsing: .unconditional,
        help: .init(
            "Write all cookies to this file at the end, replacing it; '-' is stdout. Not read: add --cookie for that.",
            valueName: "file"
        ),
        completion: .file()
    )
    var cookieJar: String?

    @Flag(
        name: [.customShort("j"), .customLong("junk-session-cookies")],
        help: "Do not read cookies without an expiry from files."
    )
    var dropsSessionCookies = false

    func validate() throws {
        guard cookieJar != "" else { throw ValidationError("The name of the cookie jar is empty; name a file, or '-'") }
        guard pairs.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
            throw ValidationError("A cookie has a line's end or another control character; leave it out")
        }
    }
}

extension FetchCookieOptions {
    private var pairs: [String] { cookie.filter { $0.contains("=") } }
    private var files: [String] { cookie.filter { !$0.contains("=") } }

    /// The value of the `Cookie` field for the URL; nil for none.
    var field: String? { pairs.isEmpty ? nil : pairs.joined(separator: "; ") }

    /// Returns the store for the session; nil if cookies are neither read nor kept.
    ///
    /// - Throws: The error for the user if a file can't be read.
    func store() throws(ToolError) -> CookieStore? {
        guard cookieJar != nil || !files.isEmpty else { return nil }
        let store = CookieStore()
        for file in files where !file.isEmpty {
            do throws(HTTPError) {
                let read = try CookieStore(file: file, keepsSessionCookies: !dropsSessionCookies)
                for cookie in read.cookies { try store.insert(cookie) }
            } catch {
                throw .init("--cookie: \(error.reason)".escapedForTerminal, exit: .usage)
            }
        }
        return store
    }

    /// Writes the cookies to the jar, after the request has ended in any way.
    ///
    /// - Throws: The error for the user if it can't be written.
    func save(_ store: CookieStore?) throws(ToolError) {
        guard let cookieJar, let store else { return }
        guard cookieJar != "-" else {
            _ = try StandardOutput.write(store.netscapeText)
            return
        }
        do throws(HTTPError) {
            try store.save(to: cookieJar)
        } catch {
            throw .init("--cookie-jar: \(error.reason)".escapedForTerminal, curl: .writeError)
        }
    }
}
