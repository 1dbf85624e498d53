public import HTTPTypes

/// Where parameters go: methods without a body of a defined meaning have them in the target (RFC 9110, 9.3).
public struct ParameterPlacement: Sendable, Hashable {
    /// The methods whose parameters go into the target.
    public var methodsInTarget: Set<HTTPRequest.Method>

    /// GET, HEAD and DELETE have their parameters in the target, unless told otherwise.
    public init(methodsInTarget: Set<HTTPRequest.Method> = [.get, .head, .delete]) {
        self.methodsInTarget = methodsInTarget
    }
}

extension HTTPRequest {
    /// Appends a query to the target, behind one that is there, and before a fragment.
    mutating func append(query: String) {
        guard !query.isEmpty else { return }
        let target = path ?? "/"
        let end = target.firstIndex(of: "#") ?? target.endIndex
        let base = target[..<end]
        let joint = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        path = base + joint + query + target[end...]
    }

    /// Says what the body is, unless the head says so already.
    mutating func setContentType(_ type: String) {
        if headerFields[.contentType] == nil { headerFields[.contentType] = type }
    }
}
