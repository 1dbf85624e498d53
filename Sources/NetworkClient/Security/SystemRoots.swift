import Glibc
import SwiftASN1
import X509

/// The system's roots, read once per process when the first chain has to lead to them.
enum SystemRoots {
    /// The roots, or why there are none.
    static let shared: Result<CertificateStore, HTTPError> = load(
        from: getenv("SSL_CERT_FILE").map { [String(cString: $0)] } ?? places
    )

    /// Where distributions keep their bundle: Debian, Ubuntu, Arch and Alpine; Fedora; openSUSE.
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    ]

    /// Reads the first bundle that there is.
    ///
    /// A certificate that can't be read, because its key is of an unusual kind, does not take the others with it.
    static func load(from paths: [String]) -> Result<CertificateStore, HTTPError> {
        for path in paths {
            guard let bytes = try? FileBytes.read(path),
                let blocks = try? CertificateFile.blocks(in: bytes, of: path)
            else { continue }
            let index = RootIndex(blocks.map(\.derBytes))
            if !index.isEmpty { return .success(CertificateStore(custom: RootStore(index: index))) }
        }
        return .failure(
            HTTPError(
                .certificateUntrusted,
                .neverSent,
                "the system has no trusted roots, looked for in \(paths.joined(separator: ", ")): "
                    + "install ca-certificates, set SSL_CERT_FILE, or give the roots"
            )
        )
    }
}
