/// What a download asks for, and what it does with the answer: the rules by which parts of a file become one.
///
/// Whatever servers say, what is put together is of one version: a part is added only to a beginning with the same
/// strong validator (RFC 9110, 13.1.5 and 15.3.7.3), exactly where that ends. Whatever else comes, the file begins
/// again; so it does where a part has no validator, though it answers `If-Range`: some servers ignore that field.
///
/// | answer | to the whole | to the rest |
/// |---|---|---|
/// | 200 | the file | the file, from its beginning |
/// | 206 that fits | not believed | what is missing |
/// | 206 that does not | not believed | the whole is asked for, and no part ever again |
/// | 416, and all is here | no file | the file is complete |
/// | 416 otherwise | no file | the whole is asked for |
/// | others | no file | no file; what is here stays |
package struct DownloadLife: Sendable, Hashable {
    /// What is there.
    package private(set) var part: DownloadPart
    /// Where the present answer began; nil before one was taken.
    package private(set) var start: Int64?
    private let traits: Traits
    private var asked = Ask.whole
    /// Where the present answer's last byte will have been written, if it said so.
    private var end: Int64?
    /// Whether the server has lied about a part.
    private var isDistrusted = false
    private var wantsWhole = false

    /// What may be done with a download.
    package struct Traits: Sendable, Hashable {
        /// Whether parts may be asked for: that is what a GET without a range of its user's can do.
        package var asksForParts: Bool
        /// Whether what was written can be taken back.
        package var isRestartable: Bool
        /// Whether any status of success brings the file, as of a POST; if not, only that of a whole representation.
        package var takesAnySuccess: Bool

        /// Sets each.
        package init(asksForParts: Bool = true, isRestartable: Bool = true, takesAnySuccess: Bool = false) {
            self.asksForParts = asksForParts
            self.isRestartable = isRestartable
            self.takesAnySuccess = takesAnySuccess
        }
    }

    /// Begins with what is there.
    package init(_ part: DownloadPart = .init(), _ traits: Traits = .init()) {
        self.part = part
        self.traits = traits
    }

    /// What to ask for.
    package enum Ask: Sendable, Hashable {
        /// The file.
        case whole
        /// The file from a byte on, if it is still the same version; else the file (`Range` and `If-Range`).
        case rest(from: Int64, of: StrongValidator)
    }

    /// What to do with an answer.
    package enum Verdict: Sendable, Hashable {
        /// Its body follows what is there.
        case append
        /// Its body is the file: forget what is there, note this, then write from the beginning.
        case restart(DownloadPart)
        /// What is there is the file; the body is none of it.
        case complete
        /// It is not the file; what is there stays.
        case noFile
        /// Ask again, for the whole.
        case again(DownloadDoubt)
        /// The download has failed.
        case fail(DownloadDoubt)
    }

    /// Whether an attempt that breaks off can be continued where it broke.
    package var isContinuable: Bool { traits.asksForParts && !isDistrusted && part.isContinuable }

    /// Says what the next attempt is to ask for.
    package mutating func ask() -> Ask {
        start = nil
        end = nil
        if isContinuable, !wantsWhole, let validator = part.validator {
            asked = .rest(from: part.length, of: validator)
        } else {
            asked = .whole
        }
        wantsWhole = false
        return asked
    }

    /// Takes the head of an answer.
    package mutating func begin(_ answer: DownloadAnswer) -> Verdict {
        switch answer.status {
        case 206 where traits.asksForParts: partial(answer)
        case 416: unsatisfied(answer)
        case 200, 203: restart(answer)
        case 200...299 where traits.takesAnySuccess: restart(answer)
        default: .noFile
        }
    }

    /// Takes so many bytes more of the file.
    ///
    /// - Returns: What is wrong with that; what is there is to be forgotten then.
    package mutating func receive(_ count: Int) -> DownloadDoubt? {
        let (length, isTooLong) = part.length.addingReportingOverflow(Int64(count))
        guard !isTooLong, length <= end ?? .max else {
            let limit = end ?? .max
            distrust()
            return .tooMuch(limit)
        }
        part.length = length
        return nil
    }

    /// Takes the answer's end.
    ///
    /// - Returns: What is missing; nil if the file is complete. Where ``part`` has no bytes then, what is there is to
    ///   be forgotten.
    package mutating func finish() -> DownloadDoubt? {
        if let end, part.length < end {
            // Who counts wrong may have put its bytes wrong as well.
            defer { distrust() }
            return .tooLittle(part.length, of: end)
        }
        guard let total = part.total, part.length < total else { return nil }
        return .tooLittle(part.length, of: total)
    }
}

extension DownloadLife {
    private mutating func distrust() {
        isDistrusted = true
        // What was given on and can't be taken back is not forgotten: nothing may follow it.
        if traits.isRestartable { part = .init() } else { part.validator = nil }
        end = nil
    }

    private mutating func restart(_ answer: DownloadAnswer) -> Verdict {
        guard traits.isRestartable || part.length == 0 else { return .fail(.startsAnew(have: part.length)) }
        // What is coded has another length than the file, and its parts are not those of the file.
        let validator = StrongValidator(tags: answer.tags, dates: answer.dates, sent: answer.sent)
        part =
            answer.isCoded || answer.status != 200
            ? .init() : .init(validator: validator, total: answer.length)
        start = 0
        end = answer.isCoded ? nil : answer.length
        return .restart(part)
    }

    private mutating func partial(_ answer: DownloadAnswer) -> Verdict {
        guard case .rest(let position, let validator) = asked else { return .fail(.unasked) }
        switch Self.judge(answer, from: position, of: part, validator) {
        case .failure(let doubt):
            isDistrusted = true
            return again(doubt)
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
        case failure(DownloadDoubt)
    }

    /// Whether an answer is a part that follows what is there.
    private static func judge(
        _ answer: DownloadAnswer,
        from position: Int64,
        of part: DownloadPart,
        _ validator: StrongValidator
    ) -> Judgement {
        if answer.isMultipart { return .failure(.severalParts) }
        guard answer.ranges.count == 1, let range = ContentRange(answer.ranges[0]), let bytes = range.bytes,
            bytes.upperBound < .max
        else { return .failure(.unknownRange(answer.ranges.isEmpty ? nil : answer.ranges.joined(separator: ", "))) }
        guard bytes.lowerBound == position else { return .failure(.wrongStart(bytes.lowerBound, asked: position)) }
        if let total = range.total, let known = part.total, total != known {
            return .failure(.wrongTotal(total, known: known))
        }
        guard let total = range.total ?? part.total else { return .failure(.unknownTotal) }
        guard bytes.upperBound < total else { return .failure(.wrongTotal(bytes.upperBound + 1, known: total)) }
        let count = bytes.upperBound - bytes.lowerBound + 1
        if let length = answer.length, length != count { return .failure(.wrongLength(length, range: count)) }
        switch validator.compare(tags: answer.tags, dates: answer.dates) {
        case .other: return .failure(.otherVersion)
        case .silent: return .failure(.unknownVersion)
        case .same: return answer.isCoded ? .failure(.coded) : .success(.init(last: bytes.upperBound, total: total))
        }
    }

    private mutating func unsatisfied(_ answer: DownloadAnswer) -> Verdict {
        guard case .rest(let position, let validator) = asked else { return .noFile }
        let total = answer.ranges.count == 1 ? ContentRange(answer.ranges[0])?.total : nil
        switch validator.compare(tags: answer.tags, dates: answer.dates) {
        case .other: return again(.otherVersion)
        // A server that does not mind If-Range may speak of another version: only the length of this one tells.
        case .silent where total != position || part.total != position: break
        case .same where total != position || part.total ?? position != position: break
        case .silent, .same:
            part.total = position
            start = position
            return .complete
        }
        return again(.unsatisfied(total: total, have: position))
    }

    private mutating func again(_ doubt: DownloadDoubt) -> Verdict {
        guard traits.isRestartable else { return .fail(doubt) }
        wantsWhole = true
        return .again(doubt)
    }
}

/// Why an answer to a download's request is not believed.
package enum DownloadDoubt: Sendable, Hashable {
    /// It is a part (206), and the whole was asked for.
    case unasked
    /// It is several parts in one body.
    case severalParts
    /// It is a part and does not say which, or not in a form that can be read.
    case unknownRange(String?)
    /// It begins elsewhere than asked.
    case wrongStart(Int64, asked: Int64)
    /// Its whole has another length than before.
    case wrongTotal(Int64, known: Int64)
    /// Its length is not that of the part that it claims to be.
    case wrongLength(Int64, range: Int64)
    /// It is a part of another version, or not surely of the same.
    case otherVersion
    /// It is a part, and does not say of which version.
    case unknownVersion
    /// It is a part of something that is coded, as the beginning is not.
    case coded
    /// It does not say where the whole ends.
    case unknownTotal
    /// There is nothing left to send, says the server (416), but not that what is here is all of it.
    case unsatisfied(total: Int64?, have: Int64)
    /// More came than it had said.
    case tooMuch(Int64)
    /// Less came than it had said.
    case tooLittle(Int64, of: Int64)
    /// It would begin again, and what was given on can't be taken back.
    case startsAnew(have: Int64)
}

extension DownloadDoubt: CustomStringConvertible {
    /// What is wrong, as the end of a sentence about the server.
    package var description: String {
        switch self {
        case .unasked: "sent a part of the file (206), though the whole was asked for"
        case .severalParts: "sent several parts of the file in one (multipart/byteranges), though one was asked for"
        case .unknownRange(let text):
            text.map { "sent a part of the file that can't be placed (Content-Range: \($0))" }
                ?? "sent a part of the file and does not say which (no Content-Range)"
        case .wrongStart(let first, let asked):
            "sent the file from byte \(first) on, though byte \(asked) was asked for"
        case .wrongTotal(let total, let known): "says that the file has \(total) bytes, of which it had \(known) before"
        case .wrongLength(let length, let range): "sent \(length) bytes as a part of \(range)"
        case .otherVersion: "sent a part of another version of the file"
        case .unknownVersion: "sent a part of the file and does not say of which version (no ETag or Last-Modified)"
        case .coded: "sent a part that is compressed, of a file that is not"
        case .unknownTotal: "sent a part of the file and does not say where the file ends"
        case .unsatisfied(let total, let have):
            "has no more of the file than the \(have) bytes that are here (416), but "
                + (total.map { "says that it has \($0)" } ?? "does not say that these are all")
        case .tooMuch(let length): "sent more than the \(length) bytes that it had announced"
        case .tooLittle(let length, let of): "sent the file up to byte \(length) of \(of), and no more"
        case .startsAnew(let have):
            "sent the file from its beginning, of which \(have) bytes were given on and are out of reach"
        }
    }
}

/// Which part of a whole an answer has, or how long the whole is (`Content-Range`; RFC 9110, 14.4).
package struct ContentRange: Sendable, Hashable {
    /// The first byte's position and the last one's; nil in `bytes */1234`, which tells the whole's length alone.
    package let bytes: ClosedRange<Int64>?
    /// The whole's length; nil where the server does not know it (`*`).
    package let total: Int64?

    /// Reads a field's value; nil where it is not of this form, contradicts itself, or is of another unit than bytes.
    package init?(_ text: String) {
        // The unit's case does not count, and there is one space behind it.
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

    /// Digits and nothing else, no more than a file can have bytes.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
