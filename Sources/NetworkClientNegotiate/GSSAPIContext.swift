import CGSSAPI
import Dispatch
import NetworkClient

/// The client's security context of GSSAPI with a web server or proxy (RFC 2743, 2.2).
///
/// Unchecked, because everything except constants is used on its queue only: the functions of GSSAPI read files and wait
/// for the servers of Kerberos.
final class GSSAPIContext: SecurityContext, @unchecked Sendable {
    private let policy: NegotiatePolicy
    private let host: String
    private let queue: DispatchQueue
    private var handles: GSSAPIHandles?

    init(_ policy: NegotiatePolicy, host: String) {
        self.policy = policy
        self.host = host
        queue = GSSAPIQueues.queue(for: host)
    }

    deinit {
        guard let handles else { return }
        queue.async { handles.release() }
    }

    func step(_ token: [UInt8]?) async throws -> SecurityStep {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.advance(token) }) }
        }
    }

    private func advance(_ token: [UInt8]?) throws(GSSAPIError) -> SecurityStep {
        let handles = self.handles ?? GSSAPIHandles()
        self.handles = handles
        if token == nil { try handles.open(host, policy) }
        return try handles.step(token ?? [], delegates: policy.delegatesCredentials)
    }
}

/// The queues on which GSSAPI is called: a few, so that a server of Kerberos that does not respond delays only some
/// hosts, and does not occupy a thread for each request.
private enum GSSAPIQueues {
    private static let queues = (0..<4).map { DispatchQueue(label: "netwatch.gssapi.\($0)") }

    static func queue(for host: String) -> DispatchQueue {
        queues[Int(UInt(bitPattern: host.hashValue) % UInt(queues.count))]
    }
}

/// The handles of a security context; used on its queue only.
private final class GSSAPIHandles: @unchecked Sendable {
    private var context: gss_ctx_id_t?
    private var credentials: gss_cred_id_t?
    private var name: gss_name_t?
    private var kerberos: krb5_context?
    /// The principal to which `name` refers; nil if that is a name that GSSAPI has made itself.
    private var principal: krb5_principal?

    /// Reads the credentials, and makes the name of the service.
    func open(_ host: String, _ policy: NegotiatePolicy) throws(GSSAPIError) {
        let cache = policy.credentialCache
        try Self.check("gss_acquire_cred", cache) { netwatch_gss_check_credentials(&$0, cache) }
        try Self.check("gss_acquire_cred", cache) { netwatch_gss_acquire(&$0, cache, netwatch_spnego(), &credentials) }
        if policy.canonicalizesHostNames {
            try Self.check("gss_import_name") { netwatch_gss_import_service(&$0, "HTTP@\(host)", &name) }
        } else {
            try namePrincipal(of: host)
        }
    }

    private func namePrincipal(of host: String) throws(GSSAPIError) {
        var code = krb5_init_context(&kerberos)
        guard code == 0 else { throw GSSAPIError("krb5_init_context", code: code, nil) }
        code = netwatch_krb5_service(kerberos, host, &principal)
        guard code == 0 else { throw GSSAPIError("krb5_sname_to_principal", code: code, kerberos) }
        try Self.check("gss_import_name") { netwatch_gss_import_principal(&$0, &principal, &name) }
    }

    /// Processes a token of the server; empty to begin.
    func step(_ token: [UInt8], delegates: Bool) throws(GSSAPIError) -> SecurityStep {
        var output = gss_buffer_desc()
        defer {
            var minor: UInt32 = 0
            gss_release_buffer(&minor, &output)
        }
        let flags = UInt32(GSS_C_MUTUAL_FLAG) | (delegates ? UInt32(GSS_C_DELEG_FLAG) : 0)
        var granted: UInt32 = 0
        let major = try Self.check("gss_init_sec_context") { minor in
            var token = token
            return token.withUnsafeMutableBytes { bytes in
                var input = gss_buffer_desc(length: bytes.count, value: bytes.baseAddress)
                return gss_init_sec_context(
                    &minor,
                    credentials,
                    &context,
                    name,
                    netwatch_spnego(),
                    flags,
                    0,
                    nil,
                    &input,
                    nil,
                    &output,
                    &granted,
                    nil
                )
            }
        }
        let continues = netwatch_gss_continues(major) != 0
        let isMutual = granted & UInt32(GSS_C_MUTUAL_FLAG) != 0
        return .init(token: output.length > 0 ? output.bytes : nil, isComplete: !continues && isMutual)
    }

    /// Releases all handles.
    func release() {
        var minor: UInt32 = 0
        gss_delete_sec_context(&minor, &context, nil)
        gss_release_name(&minor, &name)
        gss_release_cred(&minor, &credentials)
        krb5_free_principal(kerberos, principal)
        krb5_free_context(kerberos)
    }

    /// Calls a function of GSSAPI.
    ///
    /// - Returns: The major status.
    /// - Throws: The error, if it failed.
    @discardableResult
    private static func check(
        _ function: String,
        _ cache: String? = nil,
        _ call: (_ minor: inout UInt32) -> UInt32
    ) throws(GSSAPIError) -> UInt32 {
        var minor: UInt32 = 0
        let major = call(&minor)
        guard netwatch_gss_failed(major) == 0 else {
            throw GSSAPIError(function, major: major, minor: minor, cache: cache)
        }
        return major
    }
}
