extension Parameters {
    /// Returns the parameters as text parts of a form, in the order and with the names that they have in a query.
    ///
    /// A null becomes an empty part; `Data` is sent unchanged.
    ///
    /// - Parameter options: The format of dates and Booleans, the names of arrays, and the character set of values.
    /// - Returns: The parts.
    /// - Throws: ``RequestSerializationError`` if a value can't be encoded, or the parameters have no keys.
    public func multipartParts(
        _ options: ParameterOptions = .init()
    ) throws(RequestSerializationError) -> [MultipartPart] {
        try QueryPairs(self, options).pairs.map { pair throws(RequestSerializationError) in
            if case .data(let data) = pair.value { return .bytes(Array(data), name: pair.name) }
            return .bytes(try options.bytes(of: pair.value.text(options) ?? ""), name: pair.name)
        }
    }
}
