import Crypto
import NetworkClientCore

extension HTTPURL {
    /// The key by which the record of a part knows the whole URL, in a form that tells nothing: its SHA-256, in hex.
    ///
    /// User information does not count.
    var downloadKey: String {
        let text = "\(scheme)://\(authority)\(target)"
        return SHA256.hash(data: Array(text.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}

extension PartRecord {
    /// Makes the record of a download of a URL.
    init(of url: HTTPURL, _ part: DownloadPart) { self.init(url: url.description, key: url.downloadKey, part: part) }
}
