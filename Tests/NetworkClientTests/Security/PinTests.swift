import HTTPLab
import Testing

@testable import NetworkClient

/// Parsing and formatting of pins.
struct PinTests {
    private let minted: MintedCertificate
    private let digits: String

    init() throws {
        minted = try MintedCertificate(.init("localhost"))
        digits = String(minted.pin.dropFirst("sha256/".count))
    }

    @Test func `a certificate is read from DER, PEM and files of any name`() throws {
        let folder = try LabFolder()
        let pins = [
            try Pin(der: minted.der), try Pin(pem: "Our server\n" + minted.pem + minted.keyPEM),
            try Pin(file: folder.write("a.cer", minted.der)), try Pin(file: folder.write("a.der", minted.der)),
            try Pin(file: folder.write("a.pem", minted.pem)), try Pin(file: folder.write("b.cer", minted.pem)),
        ]
        for pin in pins {
            #expect(pin.certificate == minted.der)
            #expect(pin.description == minted.pin)
        }
    }

    @Test func `a key is read from its hash, also as curl writes it, and from PEM`() throws {
        for pin in [try Pin("sha256/" + digits), try Pin("sha256//" + digits), try Pin(pem: minted.publicKeyPEM)] {
            #expect(pin.certificate == nil)
            #expect(pin.description == minted.pin)
        }
    }

    @Test func `a hash whose base64 begins with a slash is not shortened`() throws {
        let text = "sha256/" + "/" + String(repeating: "A", count: 42) + "="
        #expect(try Pin(text).description == text)
        #expect(try Pin("sha256/" + text.dropFirst("sha256".count)).description == text)
    }

    @Test func `several pins of one text are all read`() throws {
        let other = try MintedCertificate(.init("other"))
        #expect(try Pin.pins(inPEM: minted.pem + other.pem).map(\.description) == [minted.pin, other.pin])
        let error = #expect(throws: HTTPError.self) { try Pin(pem: minted.pem + other.pem) }
        #expect(error?.reason == "the pin holds 2 pins where one is expected: use Pin.pins(in…)")
    }

    @Test(arguments: [
        "", "sha256", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha256/", "sha256/AAAA", "sha256/!!!!",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "SHA256:AAAA",
    ])
    func `the error for an invalid pin shows the expected form`(text: String) {
        let error = #expect(throws: HTTPError.self) { try Pin(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.hasPrefix("the pin \"\(text)\"") == true)
    }

    @Test func `bytes that are no certificate are refused`() throws {
        for bytes in [[], [0x30], Array(minted.der.dropLast()), Array("no certificate".utf8)] {
            #expect(throws: HTTPError.self) { try Pin(der: bytes) }
        }
        let cut = String(minted.pem.dropLast(40))
        for text in ["", "no certificate", cut, minted.keyPEM] {
            let error = #expect(throws: HTTPError.self) { try Pin(pem: text) }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
