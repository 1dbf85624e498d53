import CGSSAPI

/// An error of GSSAPI or Kerberos: the `cause` of the `HTTPError` of a request that could not be authenticated.
public struct GSSAPIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The C function that failed.
    public let function: String
    /// The major status (RFC 2744, 3.9.1); 0 if a function of Kerberos failed.
    public let majorStatus: UInt32
    /// The minor status: an error code of Kerberos.
    public let minorStatus: UInt32
    /// The text of the major status, as gss_display_status returns it; empty if a function of Kerberos failed.
    public let majorText: String
    /// The text of the minor status.
    public let minorText: String
    /// The credential cache that lacks a valid ticket; nil for other errors, and for the cache of the process.
    public let credentialCache: String?

    /// The function, the texts of the major and the minor status, and what to do.
    public var description: String {
        let texts = [majorText, minorText].filter { !$0.isEmpty }.joined(separator: ": ")
        let cache = credentialCache.map { " (in \($0))" } ?? ""
        return "\(function): \(texts)\(cache)\(advice)"
    }

    private var advice: String {
        netwatch_gss_lacks_credentials(majorStatus) != 0 ? "; obtain a ticket with kinit" : ""
    }

    /// Creates the error of a function of GSSAPI; called on the thread on which it failed.
    init(_ function: String, major: UInt32, minor: UInt32, cache: String? = nil) {
        self.function = function
        credentialCache = cache
        (majorStatus, minorStatus) = (major, minor)
        majorText = Self.text(major, GSS_C_GSS_CODE)
        minorText = minor == 0 ? "" : Self.text(minor, GSS_C_MECH_CODE)
    }

    /// Creates the error of a function of Kerberos.
    init(_ function: String, code: krb5_error_code, _ context: krb5_context?) {
        self.function = function
        (majorStatus, minorStatus) = (0, UInt32(bitPattern: code))
        majorText = ""
        credentialCache = nil
        let text = krb5_get_error_message(context, code)
        minorText = text.map { String(cString: $0) } ?? "error \(code)"
        krb5_free_error_message(context, text)
    }

    /// Returns the texts of a status, one after the other.
    private static func text(_ status: UInt32, _ kind: Int32) -> String {
        var texts: [String] = []
        var position: UInt32 = 0
        repeat {
            var minor: UInt32 = 0
            var buffer = gss_buffer_desc()
            let major = gss_display_status(&minor, status, kind, netwatch_spnego(), &position, &buffer)
            guard netwatch_gss_failed(major) == 0 else { break }
            texts.append(String(decoding: buffer.bytes, as: UTF8.self))
            gss_release_buffer(&minor, &buffer)
        } while position != 0
        return texts.joined(separator: ", ")
    }
}

extension gss_buffer_desc_struct {
    /// The bytes.
    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: value, count: length)) }
}
