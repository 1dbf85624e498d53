import Glibc

/// Which proxy leads to which URL, as a configuration says.
///
/// Made once for a session, and only where there is a proxy at all.
final class ProxyTable: Sendable {
    private typealias Entry = Result<ProxyServer, HTTPError>

    private let http: Entry?
    private let https: Entry?
    private let exceptions: ProxyExceptions

    /// Reads a configuration; nil if it has no proxy.
    convenience init?(_ configuration: ProxyConfiguration, _ environment: @autoclosure () -> ProxyEnvironment) {
        switch configuration {
        case .direct: return nil
        case .environment:
            let environment = environment()
            self.init(environment, except: .init(environment.exceptions?.value ?? ""))
        case .environmentExcept(let exceptions): self.init(environment(), except: exceptions)
        case .proxies(let http, let https, let exceptions):
            self.init(http.map { .success($0) }, https.map { .success($0) }, exceptions)
        }
    }

    private convenience init?(_ environment: ProxyEnvironment, except exceptions: ProxyExceptions) {
        self.init(environment.http.map(Self.entry), environment.https.map(Self.entry), exceptions)
    }

    private init?(_ http: Entry?, _ https: Entry?, _ exceptions: ProxyExceptions) {
        guard http != nil || https != nil else { return nil }
        (self.http, self.https, self.exceptions) = (http, https, exceptions)
    }

    private static func entry(_ setting: ProxyEnvironment.Setting) -> Entry {
        do throws(HTTPError) {
            return .success(try ProxyServer(setting.value))
        } catch {
            var error = error
            error.reason = "the environment's variable \(setting.variable) names no proxy: \(error.reason.afterColon)"
            return .failure(error)
        }
    }

    /// The proxy that leads to a URL; nil for none.
    ///
    /// - Throws: `invalidConfiguration`, if the environment names one that is none.
    func proxy(for url: HTTPURL) throws(HTTPError) -> ProxyServer? {
        guard let entry = url.isSecure ? https : http, !exceptions.contains(url.host) else { return nil }
        return try entry.get()
    }
}

extension String {
    /// What follows the first colon and a blank.
    fileprivate var afterColon: String { firstRange(of: ": ").map { String(self[$0.upperBound...]) } ?? self }
}

/// Through which proxies requests go.
///
/// A request on a Unix socket, or by a ``Transport`` of the user's own, goes by none, whatever this says.
public enum ProxyConfiguration: Sendable, Hashable {
    /// As the environment's variables say: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`
    /// (``ProxyEnvironment`` has the rules).
    ///
    /// They are read when the session is made. A value that is no proxy is an error of the requests that would use it.
    case environment
    /// By none.
    case direct
    /// As the environment's variables say, but for the exceptions.
    indirect case environmentExcept(ProxyExceptions)
    /// By these, for each scheme that has one.
    indirect case proxies(http: ProxyServer?, https: ProxyServer?, except: ProxyExceptions = .none)

    /// By this one, whatever the scheme.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: The hosts that are reached without.
    /// - Returns: The configuration.
    public static func all(_ proxy: ProxyServer, except exceptions: ProxyExceptions = .none) -> Self {
        .proxies(http: proxy, https: proxy, except: exceptions)
    }
}

extension ProxyExceptions {
    /// What the environment says: `no_proxy`, or else `NO_PROXY`.
    public static var environment: Self { .init(ProxyEnvironment.current.exceptions?.value ?? "") }
}

extension ProxyEnvironment {
    /// This process's, read now.
    static var current: Self { .init { name in getenv(name).map { String(cString: $0) } } }
}
