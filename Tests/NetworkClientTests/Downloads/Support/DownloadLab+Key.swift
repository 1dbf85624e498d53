@testable import NetworkClient

extension DownloadLab {
    /// What a record says of a URL.
    static func key(of url: String) throws -> String { try HTTPURL(url).downloadKey }
}
