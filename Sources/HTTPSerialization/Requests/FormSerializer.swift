public import HTTPTypes

/// Parameters as a query, or in the body as `application/x-www-form-urlencoded` (URL Standard, 5).
public struct FormSerializer: RequestSerializer {
    /// Turns parameters into a query's text, already escaped.
    public typealias Encoding = @Sendable (ParameterValue) throws(RequestSerializationError) -> String

    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// How the query is written; nil for names like `filter[open]`, sorted.
    public var encoding: Encoding?

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), encoding: Encoding? = nil) {
        self.placement = placement
        self.encoding = encoding
    }

    /// Without parameters a body that would be a form is an empty form.
    public func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest {
        let query = try parameters.map { value throws(RequestSerializationError) in try text(value) } ?? ""
        var head = request
        guard !placement.methodsInTarget.contains(request.method) else {
            head.append(query: query)
            return .init(head: head)
        }
        head.setContentType("application/x-www-form-urlencoded")
        return .init(head: head, body: Array(query.utf8))
    }

    private func text(_ parameters: ParameterValue) throws(RequestSerializationError) -> String {
        if let encoding { return try encoding(parameters) }
        return QueryPairs(parameters).text
    }
}
