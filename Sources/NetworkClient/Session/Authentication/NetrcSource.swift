import Glibc
import NetworkClientCore

/// A netrc file, from which credentials are taken as curl does.
///
/// ```swift
/// let authentication = AuthenticationPolicy(netrc: .home())
/// ```
/// The file is read once, when the session is made. An entry applies to its host with any port and scheme. The entry
/// `default` applies to all hosts, except after a redirect to another host: a host that a server names gets credentials
/// only by an entry of its own, and never without TLS if the first request used it.
///
/// Like curl, and other than ftp(1), this does not check the file's permissions: `chmod 600` is up to its owner.
public struct NetrcSource: Sendable, Hashable {
    /// The path; nil for the user's own file.
    let path: String?
    /// Whether credentials of the file are sent as Basic before a server requires them, as curl does; false by default.
    public var isPreemptive: Bool

    /// The user's own file: the one that the environment variable `NETRC` names, otherwise `.netrc` in the home directory.
    ///
    /// If it does not exist, there are no credentials.
    ///
    /// - Parameter isPreemptive: Whether its credentials are sent before a server requires them.
    /// - Returns: The source.
    public static func home(isPreemptive: Bool = false) -> Self { .init(path: nil, isPreemptive: isPreemptive) }

    /// A file by its path.
    ///
    /// If it can't be read, the session's initializer throws ``HTTPError/Code/invalidConfiguration``.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - isPreemptive: Whether its credentials are sent before a server requires them.
    /// - Returns: The source.
    public static func file(_ path: String, isPreemptive: Bool = false) -> Self {
        .init(path: path, isPreemptive: isPreemptive)
    }
}

/// The credentials of a netrc file for the requests of a session.
struct NetrcCredentials: Sendable {
    private let netrc: Netrc
    let isPreemptive: Bool

    /// Reads the file.
    ///
    /// - Returns: The credentials; nil if the user has no file.
    /// - Throws: `invalidConfiguration` if the file can't be read or has an error.
    init?(_ source: NetrcSource) throws(HTTPError) {
        guard let path = source.path ?? Self.homePath else { return nil }
        let bytes: [UInt8]
        do throws(HTTPError) {
            bytes = try FileBytes.read(path)
        } catch {
            guard source.path == nil, error.errno == ENOENT else { throw error }
            return nil
        }
        netrc = try Self.parsed(bytes, of: path)
        isPreemptive = source.isPreemptive
    }

    private static func parsed(_ bytes: [UInt8], of path: String) throws(HTTPError) -> Netrc {
        do throws(NetrcFault) {
            return try Netrc(bytes)
        } catch {
            let reason = "the netrc file '\(path)' can't be used: \(error)"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason, cause: error)
        }
    }

    /// The path of the user's own file; nil without a home directory.
    private static var homePath: String? {
        if let path = getenv("NETRC").map({ String(cString: $0) }), !path.isEmpty { return path }
        if let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty { return home + "/.netrc" }
        return getpwuid(getuid())?.pointee.pw_dir.map { String(cString: $0) + "/.netrc" }
    }

    /// Returns the password of a user at an origin; nil if there is none.
    func password(of user: String, at origin: HTTPOrigin) -> String? {
        netrc.credential(for: origin.host, user: user)?.password
    }

    /// Returns the credential for an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin of the current request.
    ///   - first: The origin of the request before redirects.
    /// - Returns: The credential; nil if there is none.
    func credential(at origin: HTTPOrigin, from first: HTTPOrigin) -> Credential? {
        if first.isSecure, !origin.isSecure { return nil }
        return netrc.credential(for: origin.host, acceptsDefault: origin == first)
    }
}
