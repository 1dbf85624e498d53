/// The marks by which a user recognizes a request; an object, since most requests have none.
final class RequestMarks: Sendable {
    let tag: String?
    let userInfo: (any Sendable)?

    private init(tag: String?, userInfo: (any Sendable)?) { (self.tag, self.userInfo) = (tag, userInfo) }

    /// Returns the marks; nil if the options have none.
    ///
    /// An initializer that returns nil would allocate the object first.
    static func of(_ options: RequestOptions) -> RequestMarks? {
        guard options.tag != nil || options.userInfo != nil else { return nil }
        return .init(tag: options.tag, userInfo: options.userInfo)
    }
}

extension RequestHandle {
    /// The text that tells the request from others, from its ``RequestOptions/tag``; nil if it has none.
    public final var tag: String? { request.marks?.tag }

    /// The value from its ``RequestOptions/userInfo``; nil if it has none.
    ///
    /// The library neither reads nor sends it.
    public final var userInfo: (any Sendable)? { request.marks?.userInfo }
}

extension HTTPSession {
    /// Returns the requests of a kind that have not finished, in the order in which they were made.
    ///
    /// ```swift
    /// for upload in session.requests(of: .upload) where upload.tag == "photos" { upload.pause() }
    /// ```
    ///
    /// - Parameter kind: The kind.
    /// - Returns: The requests.
    public func requests(of kind: RequestHandle.Kind) -> [RequestHandle] { requests.filter { $0.kind == kind } }
}
