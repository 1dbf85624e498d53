import ArgumentParser
import NetwatchCore
import NetworkClient

/// Through which proxy `netwatch fetch` goes.
struct FetchProxyOptions: ParsableArguments {
    // Read when all is: an argument that can't be taken is shown with its error, and this one may hold a password.
    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init(
            """
            Go through this proxy: http (if there is no scheme), https, socks5, or socks5h, which looks the name up; '' for \
            none. Without it, as http_proxy, https_proxy or all_proxy say.
            """,
            valueName: "[scheme://][user:password@]host[:port]"
        )
    )
    var proxy: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Hosts that are reached without a proxy: names, with all beneath them, and networks; in place of no_proxy's.",
            valueName: "list"
        )
    )
    var noproxy: String?

    func validate() throws {
        do throws(HTTPError) {
            _ = try server()
        } catch {
            throw ValidationError("The value of --proxy can't be taken: \(error.reason.escapedForTerminal)")
        }
    }

    private func server() throws(HTTPError) -> ProxyServer? {
        guard let proxy, !proxy.isEmpty else { return nil }
        return try ProxyServer(proxy)
    }
}

extension FetchProxyOptions {
    /// Puts what was said into a session's configuration; as with curl, `no_proxy` holds beside `--proxy`.
    func apply(to configuration: inout HTTPConfiguration) {
        let exceptions = noproxy.map { ProxyExceptions($0) }
        if let server = try? server() {
            configuration.proxy = .all(server, except: exceptions ?? .environment)
        } else if proxy != nil {
            configuration.proxy = .direct
        } else if let exceptions {
            configuration.proxy = .environmentExcept(exceptions)
        }
    }
}
