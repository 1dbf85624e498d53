import ArgumentParser
import NetwatchCore
import NetworkClient

/// The proxy options of `netwatch fetch`.
struct FetchProxyOptions: ParsableArguments {
    // Parsed in `validate`: the error of an argument's transform shows the argument, which may contain a password.
    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init(
            """
            Use this proxy: http (the default scheme), https, socks5, or socks5h, which resolves the name; '' for none. \
            Without it, http_proxy, https_proxy or all_proxy apply.
            """,
            valueName: "[scheme://][user:password@]host[:port]"
        )
    )
    var proxy: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Do not use a proxy for these hosts: domains and networks, in place of no_proxy.",
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
    /// Applies the options to a session's configuration; as with curl, `no_proxy` also applies to `--proxy`.
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
