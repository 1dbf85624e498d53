import HTTPLab
import Testing

@testable import NetworkClient

/// Pins from the files of a folder.
struct PinFolderTests {
    private let minted: MintedCertificate
    private let other: MintedCertificate
    private let folder: LabFolder

    init() throws {
        minted = try MintedCertificate(.init("localhost"))
        other = try MintedCertificate(.init("other"))
        folder = try LabFolder()
    }

    @Test func `certificates and keys are read in the order of the files' names, others are ignored`() throws {
        try folder.write("b.pem", other.publicKeyPEM)
        try folder.write("a.CER", minted.der)
        try folder.write("c.crt", minted.pem + other.pem)
        try folder.write("README", "no certificate")
        try folder.write("inner.pem/d.cer", minted.der)
        let pins = try Pin.pins(inFolder: folder.path)
        #expect(pins.map(\.description) == [minted.pin, other.pin, minted.pin, other.pin])
    }

    @Test func `a folder without certificates, a broken file and a missing folder are errors that name them`() throws {
        func error(_ path: String) -> HTTPError? {
            #expect(throws: HTTPError.self) { try Pin.pins(inFolder: path) }
        }
        #expect(error(folder.path)?.reason.hasPrefix("\(folder.path) holds no file to pin") == true)
        try folder.write("a.pem", "broken")
        #expect(error(folder.path)?.reason.contains("\(folder.path)/a.pem") == true)
        let missing = error("\(folder.path)/missing")
        #expect(missing?.code == .invalidConfiguration)
        #expect(missing?.reason.contains("/missing can't be read: ") == true)
    }
}
