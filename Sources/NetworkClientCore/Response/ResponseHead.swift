/// The head of a response as it was received: its status line and its fields (RFC 9112, 4 and 5).
package struct ResponseHead: Sendable {
    /// The minor version of HTTP/1.
    package private(set) var minorVersion = 1
    /// The status code, from 100 to 999.
    package private(set) var status = 0
    /// The reason phrase, which has no meaning to a program.
    package private(set) var reason = ""
    /// The fields in order.
    ///
    /// Values have no surrounding white space.
    package private(set) var fields: [(String, String)] = []
    /// The index of the last `Content-Length`.
    private(set) var lengthField: Int?
    /// Whether there is more than one `Content-Length`.
    private(set) var hasSeveralLengths = false
    /// Whether there is a `Transfer-Encoding`.
    private(set) var hasTransferCodings = false

    /// The number of fields that are stored without a second allocation.
    private static let usualFields = 12

    init() {}

    /// Parses a status line without its line end.
    ///
    /// The reason phrase may contain any bytes.
    init(statusLine line: UnsafeRawBufferPointer) throws(ResponseFault) {
        let start = "HTTP/1.".utf8
        guard line.starts(with: start) else { throw .malformed("it does not start with HTTP/1.1") }
        let rest = line[start.count...].prefix(6)
        guard rest.count >= 5, let version = rest.first?.digit, rest.dropFirst().first == UInt8(ascii: " "),
            rest.count == 5 || rest.last == UInt8(ascii: " ")
        else { throw .malformed("its status line is malformed") }
        var status = 0
        for byte in rest.dropFirst(2).prefix(3) {
            guard let digit = byte.digit else { throw .malformed("its status is not a three-digit number") }
            status = status * 10 + digit
        }
        guard status >= 100 else { throw .malformed("its status is below 100") }
        minorVersion = version
        self.status = status
        fields.reserveCapacity(Self.usualFields)
        reason = String(decoding: line.dropFirst(start.count + 6), as: UTF8.self)
    }

    /// Returns the values of all fields of a name.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: The values in order.
    func values(of name: String) -> [String] {
        var values: [String] = []
        for (field, value) in fields where field.utf8.isEqualIgnoringCase(name.utf8) { values.append(value) }
        return values
    }

    /// Parses a line of a field section, without its line end.
    mutating func takeFieldLine(_ line: UnsafeRawBufferPointer) throws(ResponseFault) {
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            throw .malformed("a field has a control character")
        }
        if line.first?.isBlank == true { return try continueField(line) }
        let name = line.prefix { $0.isTokenCharacter }
        guard !name.isEmpty, name.endIndex < line.endIndex, line[name.endIndex] == UInt8(ascii: ":") else {
            throw .malformed("a field has no valid name")
        }
        let fieldName = String(decoding: name, as: UTF8.self)
        noteFraming(fieldName)
        fields.append((fieldName, Self.text(of: line[(name.endIndex + 1)...], of: fieldName)))
    }

    /// Notes whether the next field decides about the end of the body, so that the fields need not be searched for it.
    private mutating func noteFraming(_ name: String) {
        switch name.utf8.count {
        case 14 where name.utf8.isEqualIgnoringCase("content-length".utf8):
            hasSeveralLengths = hasSeveralLengths || lengthField != nil
            lengthField = fields.count
        case 17 where name.utf8.isEqualIgnoringCase("transfer-encoding".utf8): hasTransferCodings = true
        default: break
        }
    }

    /// Parses a line that continues the previous field: the line end between them is replaced by a space (RFC 9112,
    /// 5.2).
    private mutating func continueField(_ line: UnsafeRawBufferPointer) throws(ResponseFault) {
        guard let last = fields.indices.last else { throw .malformed("its first field starts with white space") }
        let more = Self.text(of: line[...], of: fields[last].0)
        guard !more.isEmpty else { return }
        if !fields[last].1.isEmpty { fields[last].1 += " " }
        fields[last].1 += more
    }

    /// Returns a value without the white space around it.
    ///
    /// A `Location` that is not UTF-8 keeps its bytes in percent-encoded form, since they are sent back to the server.
    private static func text(of value: Slice<UnsafeRawBufferPointer>, of name: String) -> String {
        var value = value.drop { $0.isBlank }
        while value.last?.isBlank == true { value.removeLast() }
        guard name.utf8.count == 8, name.lowercased() == "location", String(validating: value, as: UTF8.self) == nil
        else { return String(decoding: value, as: UTF8.self) }
        return PercentEncoding.encoded(value) { $0 < 0x80 }
    }
}

extension UInt8 {
    fileprivate var digit: Int? { isASCIIDigit ? Int(self - UInt8(ascii: "0")) : nil }
}
