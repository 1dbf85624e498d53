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
    /// It would begin anew, and what was given on can't be taken back.
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
