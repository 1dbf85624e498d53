extension Parameters {
    /// Returns the parameters as text parts of a form, in the order and with the names that they have in a query.
    ///
    /// A null becomes an empty part; `Data` is sent unchanged.
    ///
    /// - Parameter options: The format of dates and Booleans, and the names of arrays.
    /// - Returns: The parts.
    /// - Throws: ``RequestSerializationError`` if a value can't be encoded, or the parameters have no keys.
    public func multipartParts(
        _ options: ParameterOptions = .init()
    ) throws(RequestSerializationError) -> [MultipartPart] {
        try QueryPairs(self, options).pairs.map { pair in
            if case .data(let data) = pair.value { return .bytes(Array(data), name: pair.name) }
            return .text(pair.value.text(options) ?? "", name: pair.name)
        }
    }
}
