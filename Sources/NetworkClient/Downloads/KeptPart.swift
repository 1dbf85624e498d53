import Glibc
import NIOHTTP1
import NetworkClientCore

/// What there is of a file whose download broke off.
package struct KeptPart: Sendable, Hashable {
    /// Where it is.
    package let path: String
    /// How much it is, in bytes.
    package let size: Int64
}

extension RequestHandle {
    /// What another download by the same request would go on with; nil for nothing.
    ///
    /// - Parameter path: The file's path, as the download was given it.
    /// - Returns: The part beside what the path leads to, if it is of this request's URL.
    package func keptPart(of path: String) -> KeptPart? {
        guard let target = try? FileTarget(path, .replace), !target.isSpecial else { return nil }
        let part = "\(target.path).part"
        guard let bytes = PartialFile.read("\(part).info"), let record = PartRecord(bytes),
            record.key == request.askedURL.downloadKey,
            let status = try? FileCall.status(part, followsLink: false), status.isRegular, status.isOwn,
            status.st_size > 0
        else { return nil }
        return .init(path: part, size: Int64(status.st_size))
    }
}

extension PreparedRequest {
    /// The URL that is asked, with the parameters that were put into its query.
    var askedURL: HTTPURL {
        if head.uri == url.target { return url }
        return (try? HTTPURL("\(url.scheme)://\(url.authority)\(head.uri)")) ?? url
    }
}
