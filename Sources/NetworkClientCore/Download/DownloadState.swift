/// The request and response rules of a download that is resumed: when a partial response may be appended to a file.
///
/// The file always consists of one version: a part is appended only if it has the same strong validator as the bytes
/// that are present (RFC 9110, 13.1.5 and 15.3.7.3), and starts exactly at their end. Otherwise the download starts
/// over. That includes a part without a validator in response to `If-Range`, since some servers ignore that field.
///
/// | response | to a request for the whole file | to a request for the rest |
/// |---|---|---|
/// | 200 | the file | the file, from its beginning |
/// | 206 that matches | rejected | the missing bytes |
/// | 206 that does not match | rejected | the whole file is requested, and never a part again |
/// | 416, and the file is complete | no file | the file is complete |
/// | 416 otherwise | no file | the whole file is requested |
/// | others | no file | no file; the bytes that are present are kept |
package struct DownloadState: Sendable, Hashable {
    /// The bytes that are present.
    package private(set) var part: DownloadPart
    /// The offset of the current response in the file; nil before one was accepted.
    package private(set) var start: Int64?
    private let traits: Traits
    private var asked = Ask.whole
    /// The offset after the last byte of the current response, if the response announced it.
    private var end: Int64?
    /// Whether a part from the server did not match, so that none is requested again.
    private var rangesAreUnreliable = false
    private var wantsWhole = false

    /// The capabilities of a download.
    package struct Traits: Sendable, Hashable {
        /// Whether parts may be requested: for a GET without a `Range` field of the user.
        package var asksForParts: Bool
        /// Whether the destination can discard bytes that were written.
        package var isRestartable: Bool
        /// Whether any successful status delivers the file, as for a POST; otherwise only that of a whole
        /// representation does.
        package var takesAnySuccess: Bool

        /// Creates the capabilities.
        package init(asksForParts: Bool = true, isRestartable: Bool = true, takesAnySuccess: Bool = false) {
            self.asksForParts = asksForParts
            self.isRestartable = isRestartable
            self.takesAnySuccess = takesAnySuccess
        }
    }

    /// Creates the state of a download with the bytes that are present.
    package init(_ part: DownloadPart = .init(), _ traits: Traits = .init()) {
        self.part = part
        self.traits = traits
    }

    /// The request of an attempt.
    package enum Ask: Sendable, Hashable {
        /// The whole file.
        case whole
        /// The file from an offset if it is still the same version, otherwise the whole file (`Range` and `If-Range`).
        case rest(from: Int64, of: StrongValidator)
    }

    /// The handling of a response.
    package enum Verdict: Sendable, Hashable {
        /// Append the body to the bytes that are present.
        case append
        /// Discard the bytes that are present, record this part, and write the body from the beginning.
        case restart(DownloadPart)
        /// The bytes that are present are the whole file. Ignore the body.
        case complete
        /// The response is not the file. The bytes that are present are kept.
        case noFile
        /// Request the whole file.
        case again(DownloadMismatch)
        /// Fail the download.
        case fail(DownloadMismatch)
    }

    /// Whether an interrupted attempt can be resumed where it stopped.
    package var isContinuable: Bool { traits.asksForParts && !rangesAreUnreliable && part.isContinuable }

    /// Returns the request of the next attempt.
    package mutating func ask() -> Ask {
        start = nil
        end = nil
        if isContinuable, !wantsWhole, let validator = part.validator {
            asked = .rest(from: part.length, of: validator)
        } else {
            asked = .whole
        }
        return asked
    }

    /// Decides how a response is handled, from its head.
    package mutating func begin(_ response: DownloadResponseHead) -> Verdict {
        switch response.status {
        case 206 where traits.asksForParts: partial(response)
        case 416: unsatisfied(response)
        case 200, 203: restart(response)
        case 200...299 where traits.takesAnySuccess: restart(response)
        default: .noFile
        }
    }

    /// Records received bytes of the file.
    ///
    /// - Returns: The error; nil if there is none. After an error, the bytes that are present have to be discarded.
    package mutating func receive(_ count: Int) -> DownloadMismatch? {
        let (length, isTooLong) = part.length.addingReportingOverflow(Int64(count))
        guard !isTooLong, length <= end ?? .max else {
            let limit = end ?? .max
            invalidate()
            return .tooLong(limit)
        }
        part.length = length
        return nil
    }

    /// Records the end of the response.
    ///
    /// - Returns: The error; nil if the file is complete. If ``part`` is then empty, the bytes that are present have to
    ///   be discarded.
    package mutating func finish() -> DownloadMismatch? {
        if let end, part.length < end {
            // A server that miscounts may have misplaced its bytes as well.
            defer { invalidate() }
            return .tooShort(part.length, of: end)
        }
        guard let total = part.total, part.length < total else { return nil }
        return .tooShort(part.length, of: total)
    }
}

extension DownloadState {
    private mutating func invalidate() {
        rangesAreUnreliable = true
        // Bytes that can't be discarded stay, but nothing may be appended to them.
        if traits.isRestartable { part = .init() } else { part.validator = nil }
        end = nil
    }

    private mutating func restart(_ response: DownloadResponseHead) -> Verdict {
        guard traits.isRestartable || part.length == 0 else { return .fail(.startsOver(have: part.length)) }
        // An encoded body has another length than the file, and its parts are not parts of the file.
        let validator = StrongValidator(tags: response.tags, dates: response.dates, sent: response.sent)
        part =
            response.isEncoded || response.status != 200
            ? .init() : .init(validator: validator, total: response.length)
        start = 0
        end = response.isEncoded ? nil : response.length
        wantsWhole = false
        return .restart(part)
    }

    private mutating func partial(_ response: DownloadResponseHead) -> Verdict {
        guard case .rest(let position, let validator) = asked else { return .fail(.unrequestedPart) }
        switch Self.judge(response, from: position, of: part, validator) {
        case .failure(let mismatch):
            rangesAreUnreliable = true
            return again(mismatch)
        case .success(let range):
            part.total = part.total ?? range.total
            start = position
            end = range.last + 1
            return .append
        }
    }

    private struct Placed {
        var last: Int64
        var total: Int64?
    }

    private enum Judgement {
        case success(Placed)
        case failure(DownloadMismatch)
    }

    /// Decides whether a response is a part that continues the bytes that are present.
    private static func judge(
        _ response: DownloadResponseHead,
        from position: Int64,
        of part: DownloadPart,
        _ validator: StrongValidator
    ) -> Judgement {
        if response.isMultipart { return .failure(.multipleParts) }
        guard response.ranges.count == 1, let range = ContentRange(response.ranges[0]), let bytes = range.bytes,
            bytes.upperBound < .max
        else { return .failure(.unknownRange(response.ranges.isEmpty ? nil : response.ranges.joined(separator: ", "))) }
        guard bytes.lowerBound == position else { return .failure(.wrongStart(bytes.lowerBound, asked: position)) }
        if let total = range.total, let known = part.total, total != known {
            return .failure(.wrongTotal(total, known: known))
        }
        guard let total = range.total ?? part.total else { return .failure(.unknownTotal) }
        guard bytes.upperBound < total else { return .failure(.wrongTotal(bytes.upperBound + 1, known: total)) }
        let count = bytes.upperBound - bytes.lowerBound + 1
        if let length = response.length, length != count { return .failure(.wrongLength(length, range: count)) }
        switch validator.compare(tags: response.tags, dates: response.dates) {
        case .other: return .failure(.otherVersion)
        case .silent: return .failure(.unknownVersion)
        case .same:
            return response.isEncoded ? .failure(.encoded) : .success(.init(last: bytes.upperBound, total: total))
        }
    }

    private mutating func unsatisfied(_ response: DownloadResponseHead) -> Verdict {
        guard case .rest(let position, let validator) = asked else { return .noFile }
        let total = response.ranges.count == 1 ? ContentRange(response.ranges[0])?.total : nil
        switch validator.compare(tags: response.tags, dates: response.dates) {
        case .other: return again(.otherVersion)
        // A server that ignores If-Range may mean another version: only an equal length confirms this one.
        case .silent where total != position || part.total != position: break
        case .same where total != position || part.total ?? position != position: break
        case .silent, .same:
            part.total = position
            start = position
            return .complete
        }
        return again(.unsatisfied(total: total, have: position))
    }

    private mutating func again(_ mismatch: DownloadMismatch) -> Verdict {
        guard traits.isRestartable else { return .fail(mismatch) }
        wantsWhole = true
        return .again(mismatch)
    }
}

/// The reason why a response to a download's request is rejected.
package enum DownloadMismatch: Sendable, Hashable {
    /// A part (206), although the whole file was requested.
    case unrequestedPart
    /// Several parts in one body.
    case multipleParts
    /// A part without a valid `Content-Range`.
    case unknownRange(String?)
    /// A part that starts at another offset than requested.
    case wrongStart(Int64, asked: Int64)
    /// A part of a file with another length than before.
    case wrongTotal(Int64, known: Int64)
    /// A part whose body has another length than its range.
    case wrongLength(Int64, range: Int64)
    /// A part that is of another version, or not certainly of the same one.
    case otherVersion
    /// A part without a validator.
    case unknownVersion
    /// A part of an encoded body, although the bytes that are present are not encoded.
    case encoded
    /// A part without the length of the file.
    case unknownTotal
    /// The status 416 without confirmation that the bytes that are present are the whole file.
    case unsatisfied(total: Int64?, have: Int64)
    /// More bytes than announced.
    case tooLong(Int64)
    /// Fewer bytes than announced.
    case tooShort(Int64, of: Int64)
    /// The whole file, although the bytes that are present can't be discarded.
    case startsOver(have: Int64)
}

extension DownloadMismatch: CustomStringConvertible {
    /// The error as a predicate of a sentence about the server.
    package var description: String {
        switch self {
        case .unrequestedPart: "sent a part of the file (206) although the whole file was requested"
        case .multipleParts: "sent several parts in one body (multipart/byteranges) although one part was requested"
        case .unknownRange(let text):
            text.map { "sent a part of the file with an invalid range (Content-Range: \($0))" }
                ?? "sent a part of the file without its range (no Content-Range)"
        case .wrongStart(let first, let asked):
            "sent the file from byte \(first) although byte \(asked) was requested"
        case .wrongTotal(let total, let known): "reports a file size of \(total) bytes, which was \(known) bytes before"
        case .wrongLength(let length, let range): "sent \(length) bytes for a range of \(range)"
        case .otherVersion: "sent a part of another version of the file"
        case .unknownVersion: "sent a part of the file without its version (no ETag or Last-Modified)"
        case .encoded: "sent a compressed part of a file that is not compressed"
        case .unknownTotal: "sent a part of the file without the size of the file"
        case .unsatisfied(let total, let have):
            "has nothing after the \(have) bytes that are present (416), but "
                + (total.map { "reports a file size of \($0) bytes" } ?? "does not report the file size")
        case .tooLong(let length): "sent more than the \(length) bytes that it announced"
        case .tooShort(let length, let of): "sent only \(length) of the file's \(of) bytes"
        case .startsOver(let have):
            "sent the file from its beginning, but \(have) bytes were delivered already and can't be discarded"
        }
    }
}

/// The range of a partial response, or the length of the whole (`Content-Range`; RFC 9110, 14.4).
package struct ContentRange: Sendable, Hashable {
    /// The offsets of the first and the last byte; nil in `bytes */1234`, which states only the length of the whole.
    package let bytes: ClosedRange<Int64>?
    /// The length of the whole in bytes; nil if the server does not know it (`*`).
    package let total: Int64?

    /// Parses a field's value; nil if it is malformed, contradicts itself, or has another unit than bytes.
    package init?(_ text: String) {
        // The unit is case-insensitive and is followed by one space.
        guard text.utf8.count <= 128, text.utf8.prefix(6).map({ $0 | 0x20 }).elementsEqual("bytes ".utf8) else {
            return nil
        }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// Returns a number that consists only of digits and fits into a file's size; otherwise nil.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
