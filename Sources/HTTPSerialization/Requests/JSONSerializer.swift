import FoundationEssentials
public import HTTPTypes

/// Parameters as a JSON body (RFC 8259); as a query for methods that have them in the target.
///
/// A ``ParameterValue/set(_:)`` becomes an array, sorted, so that the same set always gives the same bytes.
public struct JSONSerializer: RequestSerializer {
    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// Whether keys are sorted and lines broken, for people.
    public var isPretty: Bool

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), isPretty: Bool = false) {
        self.placement = placement
        self.isPretty = isPretty
    }

    /// Without parameters there is no body.
    public func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !placement.methodsInTarget.contains(request.method) else {
            return try FormSerializer(placement: placement).serialize(request, parameters: parameters)
        }
        guard let parameters else { return .init(head: request) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = isPretty ? [.prettyPrinted, .sortedKeys] : [.sortedKeys, .withoutEscapingSlashes]
        var head = request
        head.setContentType("application/json")
        do {
            return .init(head: head, body: Array(try encoder.encode(parameters)))
        } catch {
            throw .init("the parameters can't be written as JSON, which has no infinite numbers: \(error)")
        }
    }
}
