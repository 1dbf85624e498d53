import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import ReachabilityCore
import Testing

@testable import Validation

/// The files of DHCP clients below a folder of the test's own.
@Suite(.timeLimit(.minutes(5))) struct LeaseFilesTests {
    private static let url = "https://portal.example/api"
    private static let path = ValidationPath(
        interface: 7,
        name: "wan0",
        networks: [.init(.init(ipv4: 0xC000_0202), length: 32)]
    )

    private static func dhclient(
        _ address: String = "192.0.2.2",
        _ interface: String = "wan0",
        url: String = url
    ) -> String {
        """
        lease {
          interface "\(interface)";
          fixed-address \(address);
          option default-url "\(url)";
          expire epoch 2000000000; # Wed May 18 03:33:20 2033
        }

        """
    }

    private static func portalURL(in folder: LabFolder, at now: Int64 = 1_900_000_000) -> String? {
        LeaseFiles(root: folder.path).portalURL(of: path, at: now)
    }

    @Test(arguments: [
        "var/lib/dhcp/dhclient.wan0.leases", "var/lib/dhcp/dhclient.leases",
        "var/lib/dhclient/dhclient-wan0.leases", "var/lib/NetworkManager/dhclient-11111111-wan0.lease",
    ])
    func `leases of dhclient are found where distributions keep them`(name: String) throws {
        let folder = try LabFolder()
        try folder.write(name, Self.dhclient())
        #expect(Self.portalURL(in: folder) == Self.url)
        #expect(Self.portalURL(in: folder, at: 2_000_000_000) == nil)
    }

    @Test func `a lease of systemd-networkd, NetworkManager and dhcpcd is found`() throws {
        let networkd = try LabFolder()
        try networkd.write("run/systemd/netif/leases/7", "ADDRESS=192.0.2.2\nLIFETIME=4294967295\n")
        try networkd.write("run/systemd/netif/links/7", "CAPTIVE_PORTAL=\(Self.url)\n")
        #expect(Self.portalURL(in: networkd) == Self.url)

        let manager = try LabFolder()
        let state = "[dhcp4]\ndhcp4.ip_address=192.0.2.2\ndhcp4.expiry=2000000000\ndhcp4.default_url=\(Self.url)\n"
        try manager.write("run/NetworkManager/devices/7", state)
        #expect(Self.portalURL(in: manager) == Self.url)

        var message = [UInt8](repeating: 0, count: 236)
        (message[0], message[16], message[18], message[19]) = (2, 192, 2, 2)
        message += [0x63, 0x82, 0x53, 0x63, 114, UInt8(Self.url.utf8.count)] + Array(Self.url.utf8)
        for name in ["var/lib/dhcpcd/wan0.lease", "var/lib/dhcpcd5/wan0-Hotel.lease"] {
            let folder = try LabFolder()
            try folder.write(name, message)
            #expect(Self.portalURL(in: folder) == Self.url)
        }
    }

    @Test func `a lease of another address or interface is none of the path`() throws {
        let folder = try LabFolder()
        try folder.write("var/lib/dhcp/dhclient.wan0.leases", Self.dhclient("192.0.2.3"))
        try folder.write("var/lib/dhcp/dhclient.wan1.leases", Self.dhclient("192.0.2.2", "wan1"))
        #expect(Self.portalURL(in: folder) == nil)
        try folder.write("var/lib/dhcp/dhclient.zzz.leases", Self.dhclient())
        #expect(Self.portalURL(in: folder) == Self.url)
    }

    @Test func `other files in the folder of leases, however many, hide none`() throws {
        let folder = try LabFolder()
        // As NetworkManager's own client leaves them, one for each network.
        for number in 0..<1_000 { try folder.write("var/lib/NetworkManager/internal-\(number)-wan0.lease", "") }
        try folder.write("var/lib/NetworkManager/dhclient-11111111-wan0.lease", Self.dhclient())
        #expect(Self.portalURL(in: folder) == Self.url)
    }

    @Test func `a file that is too large is read from its end, and no pipe is waited for`() throws {
        let folder = try LabFolder()
        try folder.write("run/systemd/netif/leases/7", String(repeating: "#\n", count: 100_000))
        mkfifo("\(folder.path)/run/systemd/netif/links", 0o600)
        try folder.write("run/NetworkManager/devices/8", "")
        mkfifo("\(folder.path)/run/NetworkManager/devices/7", 0o600)
        let many = String(repeating: Self.dhclient("192.0.2.9", url: "https://old.example/"), count: 1_000)
        try folder.write("var/lib/dhcp/dhclient.wan0.leases", many + Self.dhclient())
        #expect(Self.portalURL(in: folder) == Self.url)
    }

    @Test func `a portal that a lease names is asked, and named`() async throws {
        let authority = try CertificateAuthority()
        let page = "https://hotel.example/login"
        let reply = #"{"captive": true, "user-portal-url": "\#(page)"}"#
        let api = "location = /captive { default_type application/captive+json; return 200 '\(reply)'; }"
        let nginx = try Nginx(certifiedBy: authority, directives: [api])
        let folder = try LabFolder()
        let url = "https://127.0.0.1:\(nginx.securePort)/captive"
        try folder.write("var/lib/dhcp/dhclient.lo.leases", Self.dhclient("127.0.0.1", "lo", url: url))
        let validator = try PathValidator(
            .init(endpoints: [.tcp("127.0.0.1", port: Int(nginx.port))], timeout: .seconds(600)),
            LoopbackPath(),
            TLSOptions(roots: try .only(authority.root.der)),
            .direct,
            LeaseFiles(root: folder.path)
        )
        // The endpoint accepts connections, as a portal may: the verdict it gives does not last.
        let report = await validator.verdicts.first { $0.verdict == .portal(.init(loginURL: page)) }
        #expect(report?.evidence == .portalAPI)
    }
}
