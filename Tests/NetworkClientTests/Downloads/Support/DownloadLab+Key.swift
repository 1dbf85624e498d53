@testable import NetworkClient

extension DownloadLab {
    /// The key of a URL in a record.
    static func key(of url: String) throws -> String { try HTTPURL(url).downloadKey }
}
