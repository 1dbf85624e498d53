/// Why a request has failed.
///
/// `docs/http-errors.md` has the table of all the ways in which the kernel, the resolver, TLS, the server or the answer
/// can fail, and what each becomes.
public struct HTTPError: Error, Sendable {
    /// What went wrong.
    public var code: Code
    /// How far the request may have come.
    public var processing: Processing
    /// What exactly was wrong, and what to do, in a line.
    public var reason: String
    /// The kernel's error number, where it was the kernel that refused; see errno(3).
    public var errno: Int32?
    /// The proxy that it is about, as in `http://192.0.2.3:3128`: what can't be reached, or says no; nil for the origin.
    public var proxy: String?
    /// The method and the URL without user information and query, for logs.
    public var request: String?
    /// The answer's head, if one came.
    public var response: HTTPResponse?
    /// The beginning of the answer's body, as far as it came and was kept.
    public var body: [UInt8]
    /// What the body says, where a serializer could decode it all the same.
    public var decoded: (any Sendable)?
    /// What the error was made from.
    public var cause: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code,
        _ processing: Processing,
        _ reason: String,
        errno: Int32? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.processing = processing
        self.reason = reason
        self.errno = errno
        self.cause = cause
        body = []
    }
}

extension HTTPError: CustomStringConvertible {
    /// Which request failed and why, in a line.
    public var description: String { request.map { "\($0): \(reason)" } ?? reason }
}
