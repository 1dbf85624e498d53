import ReachabilityCore

/// Why a capture can't be replayed any further.
enum ReplayError: Error, Hashable, CustomStringConvertible {
    /// The file is not a capture of netlink, or is damaged.
    case capture(CaptureError)
    /// A record holds something that is not a netlink message.
    case message(NetlinkDecodeError, CaptureRecord)
    /// A record does not hold the whole of its message.
    case cut(CaptureRecord)

    /// What is wrong, with record and offset, and what to do.
    var description: String {
        switch self {
        case .capture(let error): return error.description
        case .message(let error, let record):
            let offset = record.payload.lowerBound + error.offset
            let type = error.messageType.map { "message of type \($0)" } ?? "message"
            return "record \(record.number) at byte \(offset): \(type): \(error.fault)"
        case .cut(let record):
            return "record \(record.number) at byte \(record.offset): only \(record.payload.count) of "
                + "\(record.originalLength) bytes were captured; capture again with a larger snapshot length"
        }
    }
}
