import FoundationEssentials
public import HTTPTypes

/// Parameters as a property list (XML); as a query for methods that have them in the target.
public struct PropertyListSerializer: RequestSerializer {
    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// Whether the list is binary instead of XML.
    public var isBinary: Bool

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), isBinary: Bool = false) {
        self.placement = placement
        self.isBinary = isBinary
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
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        var head = request
        head.setContentType("application/x-plist")
        do {
            return .init(head: head, body: Array(try encoder.encode(parameters.withoutNulls)))
        } catch {
            throw .init("the parameters can't be written as a property list, which is a dictionary or a list: \(error)")
        }
    }
}

extension ParameterValue {
    /// The value without nulls, at any depth: keys with one go, and elements that are one.
    public var withoutNulls: ParameterValue {
        switch self {
        case .array(let values): .array(values.filter { $0 != .null }.map(\.withoutNulls))
        case .set(let values): .set(Set(values.filter { $0 != .null }.map(\.withoutNulls)))
        case .dictionary(let values): .dictionary(values.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
