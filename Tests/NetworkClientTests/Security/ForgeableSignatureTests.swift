import FoundationEssentials
import SwiftASN1
import Testing
import X509

@testable import NetworkClient

/// Signatures that can be forged, with certificates that OpenSSL made: SHA-1 signs with RSA alone.
@Suite(.timeLimit(.minutes(10)))
struct ForgeableSignatureTests {
    private static let root = """
        MIIDCzCCAfOgAwIBAgIUHcYfEgVe7Mlm+wN6vGatz4OCh/owDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBUjAgFw0yNjExMjEx\
        MjA0NDVaGA8yMTI2MTAyODEyMDQ0NVowDDEKMAgGA1UEAwwBUjCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAJrHmi8i\
        AbY35vNDHbsTHRDhak4JPWBJM8sX7vllgtvks4M3MhJ9nqifWX4sKowTu6tIytmWw2Dp7ME1gcKiMtXrwSh9Ny39dh/abWJ9JriJ\
        vuRDJOxKjLOIa/VmVNC4jZg7HQbfD4Eto8fERdZPtETDasKesr6ctPIukaYI8EdDIbw+/iSC6AB/naDE7rFNRP/4t6YCDUlTZ44v\
        EGxBQ6TEPUSHRxExqftOaGKYOGxVvI6SZY7UzLKCpStUtRJ5R4kioliX+1FlzFmCWtrAljgLPV4/eok7yCAc6h0HYcVYa6lrVapH\
        APb7RKw5UTqCqcqWI8tzzH0x+VdXiVBUDh8CAwEAAaNjMGEwHQYDVR0OBBYEFD8Ukz5ZxrgxNf3NQ83kYfx+Yy2wMB8GA1UdIwQY\
        MBaAFD8Ukz5ZxrgxNf3NQ83kYfx+Yy2wMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMA0GCSqGSIb3DQEBCwUAA4IB\
        AQAMNfDsmKwxjC94tRmZ2sBq8DdTN+vYlj60fSQctU9KHNGTGIA5cgTU/p+WmR+t0MUzo9xSL28y5KA+yBBZEDyXM+AO6KHQTbZl\
        fMWJ5pOxV0MbiYfIg7ffG3tNl+kD9OjJ/IiMadwudXTdV4cTESDSYT61vANZxRfzLX5HYSnT/7cI5TPWhHVYYPkXRsb7+vezTjLK\
        usCLL/uXlQ8g315lX0a1M2TcwML+5dmFuRxysa6jNnr350PqZebuNp+IduEPstRBPSwJU4LwanqiWUU6brE9eSeOjbc4v3+HK7Os\
        E1d8XCD3PJJ+mvFW7dASSw/xZe0m+9iAxxgjvNejZR8A
        """

    private static let signedWithSHA1 = """
        MIICLTCCARWgAwIBAgIUJm4YWizyI3HEszGWcXH+tpMEuycwDQYJKoZIhvcNAQEFBQAwDDEKMAgGA1UEAwwBUjAgFw0yNjExMjEx\
        MjA0NDVaGA8yMTI2MTAyODEyMDQ0NVowDDEKMAgGA1UEAwwBTDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPf+gUtMLA4iHC7A\
        hW9fIki9H2EFydfb4idTLj+AtMLGX/bTAqBtoMjw7mCOcXPQhVOfrH5Xbnkyh4oVoH7nsBijUDBOMAwGA1UdEwEB/wQCMAAwHQYD\
        VR0OBBYEFDvqJDbQU1imDOTzRxV+dqoIVWzgMB8GA1UdIwQYMBaAFD8Ukz5ZxrgxNf3NQ83kYfx+Yy2wMA0GCSqGSIb3DQEBBQUA\
        A4IBAQBZvYTUe51BxAI0HjFHlE7LHdhGSsgyDnz9mlXSW6Sg44BT0yEvrARwM3oYW8z9mOtWDuQ4wOU8oa2v513MHVUD/P+Lfu1c\
        hfUqXQXy77XcfBwO9Mn9R86PWlx+/MV39WP5zBS7NC705GaSVrCTn/oomQDn5Nmp5OLIbcrcQAEe1p6CxKS3kl0IK9de8U8cnHf4\
        SRKzFPALwV1ENofwRsIw0xsSbdWVEeybMCW1lWP4Ayn5gMPTV0/ghTZNHgfmF8MdqQvgAgOHhJhoZiPwM4m8o13UO3jY37Z/uQSw\
        wfdp/BxDbGrR/Rl816BP9tXnc5twRHct2m0nJ3oiLlyGg8FC
        """

    private static let signedWithSHA256 = """
        MIICLTCCARWgAwIBAgIUJm4YWizyI3HEszGWcXH+tpMEuygwDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBUjAgFw0yNjExMjEx\
        MjA0NDVaGA8yMTI2MTAyODEyMDQ0NVowDDEKMAgGA1UEAwwBTDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPf+gUtMLA4iHC7A\
        hW9fIki9H2EFydfb4idTLj+AtMLGX/bTAqBtoMjw7mCOcXPQhVOfrH5Xbnkyh4oVoH7nsBijUDBOMAwGA1UdEwEB/wQCMAAwHQYD\
        VR0OBBYEFDvqJDbQU1imDOTzRxV+dqoIVWzgMB8GA1UdIwQYMBaAFD8Ukz5ZxrgxNf3NQ83kYfx+Yy2wMA0GCSqGSIb3DQEBCwUA\
        A4IBAQBUpN2b6Nzxfv7jmO+C7v1NuOTKmm1Pf687jCnXTXtFP1/6d9LvGeDXyVXbve5zYXtlqUoQBsWMVgUC/I24Zsg6350d91Sr\
        Mi6mHw8DDVzyiXKpF8tKSRCAZJWhyrjtrIouj0cbWUJraktc8xh6lqJcmr/w3gV7rAUZAckJTvG7g8oaKJr4K9MBuDrbHPbqn8+o\
        geRKNR/ZH5U9X+eWqUwrD2jHtA2Lahqv0hzkVtfd3G8otWDFOUtvwiP+BPtvdRm/IarsKdgF9UHYHxTkKMoabRvQpfmOMisyWFge\
        3K3bPVb+kvOSdd+0akZYA7WS4bs0FQjmUFrcDhGg/tzm3G+L
        """

    /// Whether a chain of two is valid for a server, regardless of dates.
    private func isUsable(_ leaf: String) async throws -> Bool {
        var verifier = Verifier(rootCertificates: CertificateStore([try certificate(Self.root)])) {
            IssuerPolicy()
            ServerUsagePolicy()
        }
        let result = await verifier.validate(leaf: try certificate(leaf), intermediates: CertificateStore())
        if case .validCertificate = result { return true }
        return false
    }

    private func certificate(_ text: String) throws -> Certificate {
        try Certificate(derEncoded: Array(#require(Data(base64Encoded: text))))
    }

    @Test func `a certificate that is signed with SHA-1 is refused, another of the same authority not`() async throws {
        #expect(try await !isUsable(Self.signedWithSHA1))
        #expect(try await isUsable(Self.signedWithSHA256))
    }
}
