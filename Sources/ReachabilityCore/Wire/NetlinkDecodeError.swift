/// An error in the bytes of a netlink message, with its position.
public struct NetlinkDecodeError: Error, Sendable, Hashable {
    /// The error.
    public var fault: Fault
    /// The position of the error: an offset in bytes from the start of the datagram.
    public var offset: Int
    /// The offset of the message that contains the error.
    public var messageOffset: Int
    /// The type of that message; nil if its header could not be read.
    public var messageType: UInt16?
    /// The offset of the next message; nil if it is unknown or if there is none.
    ///
    /// Pass it to ``NetlinkDecoder/decode(_:from:_:)`` to continue.
    public var nextMessageOffset: Int?

    /// The kinds of errors in a message.
    public enum Fault: Sendable, Hashable {
        /// Fewer bytes remain than a header has.
        case truncatedHeader(available: Int)
        /// `nlmsg_len` is smaller than a header.
        case invalidLength(UInt32)
        /// `nlmsg_len` is larger than the rest of the datagram.
        case truncatedMessage(length: UInt32, available: Int)
        /// The payload is smaller than the type's fixed part.
        case truncatedBody(required: Int, available: Int)
        /// An attribute's length is smaller than its header or larger than the rest of the message.
        case invalidAttributeLength(type: UInt16, length: UInt16, available: Int)
        /// The length of an entry in an attribute is smaller than its header or larger than the rest of the attribute.
        case invalidEntryLength(attribute: String, length: UInt16, available: Int)
        /// An attribute is shorter than its type requires.
        case shortAttribute(String, required: Int, available: Int)
        /// An attribute is longer than its type allows.
        case longAttribute(String, limit: Int, available: Int)
        /// A required attribute is missing.
        case missingAttribute(String)
        /// A prefix is longer than an address of its family.
        case invalidPrefixLength(String, UInt8)
        /// The first value of a range is greater than the last.
        case invalidRange(String)
        /// A uevent has no action, or text where a number belongs.
        case invalidUevent(String)
    }

    /// Creates an error; the decoder adds the message it is in.
    init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
        self.messageOffset = offset
    }
}

extension NetlinkDecodeError: CustomStringConvertible {
    /// A description of the error and its position.
    public var description: String {
        let message = messageType.map { "message of type \($0)" } ?? "message"
        return "\(message) at byte \(messageOffset): \(fault) (at byte \(offset))"
    }
}

extension NetlinkDecodeError.Fault: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .truncatedHeader(let available):
            "its header needs \(NetlinkHeader.size) bytes, \(available) are left"
        case .invalidLength(let length):
            "its length is \(length) bytes, less than a header"
        case .truncatedMessage(let length, let available):
            "its length is \(length) bytes, \(available) are left"
        case .truncatedBody(let required, let available):
            "its fixed-size part needs \(required) bytes, it has \(available)"
        case .invalidAttributeLength(let type, let length, let available):
            "the length of attribute \(type) is \(length) bytes, \(available) are left"
        case .invalidEntryLength(let attribute, let length, let available):
            "the length of an entry of \(attribute) is \(length) bytes, \(available) are left"
        case .shortAttribute(let name, let required, let available):
            "\(name) has \(available) bytes, \(required) are required"
        case .longAttribute(let name, let limit, let available):
            "\(name) has \(available) bytes, at most \(limit) are allowed"
        case .missingAttribute(let name):
            "\(name) is missing"
        case .invalidPrefixLength(let name, let length):
            "\(name) is \(length) bits, more than an address has"
        case .invalidRange(let name):
            "the range of \(name) ends before it begins"
        case .invalidUevent(let what):
            "uevent: \(what)"
        }
    }
}
