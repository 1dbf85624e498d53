/// Why bytes are not a netlink message, and where.
public struct NetlinkDecodeError: Error, Sendable, Hashable {
    /// What is wrong.
    public var fault: Fault
    /// Where it is wrong: bytes from the start of what was handed to the decoder.
    public var offset: Int
    /// Where the message begins that it is part of.
    public var messageOffset: Int
    /// The type of that message; nil if its head could not be read.
    public var messageType: UInt16?
    /// Where the message behind it begins; nil if that can't be told, or if there is none.
    ///
    /// Pass it to ``NetlinkDecoder/decode(_:from:_:)`` to go on.
    public var nextMessageOffset: Int?

    /// What can be wrong with a message.
    public enum Fault: Sendable, Hashable {
        /// Fewer bytes are left than a head has.
        case truncatedHeader(available: Int)
        /// `nlmsg_len` is smaller than a head.
        case invalidLength(UInt32)
        /// `nlmsg_len` is larger than what is left.
        case truncatedMessage(length: UInt32, available: Int)
        /// The payload is smaller than the type's fixed part.
        case truncatedBody(required: Int, available: Int)
        /// An attribute's length is smaller than its head, or larger than what is left.
        case invalidAttributeLength(type: UInt16, length: UInt16, available: Int)
        /// The entry of a list in an attribute has a length smaller than its head, or larger than what is left.
        case invalidEntryLength(attribute: String, length: UInt16, available: Int)
        /// An attribute is shorter than its type.
        case shortAttribute(String, required: Int, available: Int)
        /// An attribute is longer than its type can be.
        case longAttribute(String, limit: Int, available: Int)
        /// An attribute is missing without which the message says nothing.
        case missingAttribute(String)
        /// A prefix is longer than an address of its family.
        case invalidPrefixLength(String, UInt8)
        /// The first value of a range is greater than the last.
        case invalidRange(String)
        /// A uevent without action, or with something else than a number where one belongs.
        case invalidUevent(String)
    }

    /// Makes an error whose place in the datagram is filled in where it is known.
    init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
        self.messageOffset = offset
    }
}

extension NetlinkDecodeError: CustomStringConvertible {
    /// What is wrong and where, for a person to read.
    public var description: String {
        let message = messageType.map { "message of type \($0)" } ?? "message"
        return "\(message) at byte \(messageOffset): \(fault) (at byte \(offset))"
    }
}

extension NetlinkDecodeError.Fault: CustomStringConvertible {
    /// What is wrong, for a person to read.
    public var description: String {
        switch self {
        case .truncatedHeader(let available):
            "its head needs \(NetlinkHeader.size) bytes, \(available) are left"
        case .invalidLength(let length):
            "its length says \(length) bytes, less than a head"
        case .truncatedMessage(let length, let available):
            "its length says \(length) bytes, \(available) are left"
        case .truncatedBody(let required, let available):
            "its fixed part needs \(required) bytes, it has \(available)"
        case .invalidAttributeLength(let type, let length, let available):
            "attribute \(type) says \(length) bytes, \(available) are left"
        case .invalidEntryLength(let attribute, let length, let available):
            "an entry of \(attribute) says \(length) bytes, \(available) are left"
        case .shortAttribute(let name, let required, let available):
            "\(name) needs \(required) bytes, it has \(available)"
        case .longAttribute(let name, let limit, let available):
            "\(name) may have \(limit) bytes, it has \(available)"
        case .missingAttribute(let name):
            "\(name) is missing"
        case .invalidPrefixLength(let name, let length):
            "\(name) says a prefix of \(length) bits, more than an address has"
        case .invalidRange(let name):
            "the range of \(name) ends before it begins"
        case .invalidUevent(let what):
            "uevent: \(what)"
        }
    }
}
