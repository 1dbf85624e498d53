import NetworkLab
import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

/// The files of DHCP clients; those of dhclient 4.4.3, dhcpcd 9.4.1 and NetworkManager 1.42.4 are as these wrote them.
struct DHCPLeaseTests {
    private static let url = "https://portal.example/api"

    private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    // MARK: ISC dhclient

    private static let dhclient = """
        lease {
          interface "c0";
          fixed-address 192.0.2.52;
          option subnet-mask 255.255.255.0;
          option routers 192.0.2.1;
          option dhcp-lease-time 3600;
          option default-url "https://portal.example/api";
          option dhcp-message-type 5;
          option dhcp-server-identifier 192.0.2.1;
          option dhcp-renewal-time 1800;
          option broadcast-address 192.0.2.255;
          option dhcp-rebinding-time 3150;
          renew 3 2026/11/25 23:41:58;
          rebind 4 2026/11/26 00:07:34;
          expire 4 2026/11/26 00:15:04;
        }

        """

    private static func dhclient(_ text: String, _ interface: String = "c0") -> DHCPLease? {
        DHCPLease(dhclient: Array(text.utf8), interface: interface)
    }

    @Test func `a lease of dhclient is decoded`() throws {
        let expected = DHCPLease(address: try Self.address("192.0.2.52"), end: 1_795_652_104, portalURL: Self.url)
        #expect(Self.dhclient(Self.dhclient) == expected)
        #expect(Self.dhclient(Self.dhclient, "c1") == nil)
    }

    @Test func `the last of several leases of an interface counts, also when the text begins within one`() {
        let other = Self.dhclient.replacing("c0", with: "c1").replacing("portal", with: "hotel")
        let without = Self.dhclient.replacing("  option default-url \"https://portal.example/api\";\n", with: "")
        #expect(Self.dhclient(without + Self.dhclient + other)?.portalURL == Self.url)
        #expect(Self.dhclient(Self.dhclient + without)?.portalURL == nil)
        #expect(Self.dhclient(String(Self.dhclient.dropFirst(200)) + Self.dhclient)?.portalURL == Self.url)
        #expect(Self.dhclient(Self.dhclient + String(without.dropLast(20)))?.portalURL == Self.url)
    }

    @Test(arguments: [
        ("default-url", #""https://portal.example/api""#, Self.url),
        ("captive-portal", #""https://portal.example/api""#, Self.url),
        ("unknown-114", #""https://portal.example/api""#, Self.url),
        ("unknown-114", "68:74:74:70:73:3a:2f:2f:61:2f", "https://a/"),
        ("default-url", #""a\"b\\c\303\251;}""#, "a\"b\\cé;}"),
        ("domain-name", #""https://portal.example/api""#, nil),
    ])
    func `option 114 has several names and forms`(name: String, value: String, expected: String?) {
        let text = Self.dhclient.replacing(#"default-url "https://portal.example/api""#, with: "\(name) \(value)")
        #expect(Self.dhclient(text)?.portalURL == expected)
        #expect(Self.dhclient(text) != nil)
    }

    @Test(
        arguments: [
            ("never", nil), ("epoch 1795652104; # Thu Nov 26 00:15:04 2026", 1_795_652_104),
            ("4 2026/11/26 00:15:04", 1_795_652_104), ("4 1970/1/1 00:00:00", 0),
            ("0 2024/02/29 12:00:00", 1_709_208_000),
            ("2 2000/03/01 00:00:00", 951_868_800),
        ] as [(String, Int64?)]
    )
    func `a lease of dhclient ends at the time that it says`(text: String, expected: Int64?) {
        let lease = Self.dhclient(Self.dhclient.replacing("4 2026/11/26 00:15:04", with: text))
        #expect(lease != nil)
        #expect(lease?.end == expected)
    }

    @Test(arguments: ["", "soon", "4 2026/13/26 00:15:04", "4 2026/11/26 99999999999999:0:0", "4 2026/11/26"])
    func `a lease whose end is no time is none`(text: String) {
        #expect(Self.dhclient(Self.dhclient.replacing("4 2026/11/26 00:15:04", with: text)) == nil)
    }

    // MARK: NetworkManager

    private static let networkManager = """
        [device]
        managed=true
        perm-hw-addr-fake=66:A2:12:7D:15:48
        connection-uuid=11111111-2222-3333-4444-555555555555
        nm-owned=false
        route-metric-default-effective=100
        next-server=192.0.2.1

        [dhcp4]
        dhcp4.broadcast_address=192.0.2.255
        dhcp4.dhcp_client_identifier=01:66:a2:12:7d:15:48
        dhcp4.dhcp_lease_time=3600
        dhcp4.dhcp_server_identifier=192.0.2.1
        dhcp4.expiry=1795652183
        dhcp4.host_name=vm
        dhcp4.ip_address=192.0.2.50
        dhcp4.next_server=192.0.2.1
        dhcp4.routers=192.0.2.1
        dhcp4.subnet_mask=255.255.255.0

        """

    @Test func `a lease of NetworkManager is decoded, with the option if its client keeps it`() throws {
        let plain = DHCPLease(address: try Self.address("192.0.2.50"), end: 1_795_652_183, portalURL: nil)
        #expect(DHCPLease(networkManager: Array(Self.networkManager.utf8)) == plain)
        let text =
            Self.networkManager + "dhcp4.default_url=\(Self.url)\n\n[dhcp6]\ndhcp6.default_url=https://six.example/\n"
        #expect(DHCPLease(networkManager: Array(text.utf8))?.portalURL == Self.url)
        let elsewhere = Self.networkManager + "\n[other]\ndhcp4.default_url=\(Self.url)\n"
        #expect(DHCPLease(networkManager: Array(elsewhere.utf8))?.portalURL == nil)
    }

    // MARK: systemd-networkd

    private static let networkd = """
        # This is private data. Do not parse.
        ADDRESS=192.0.2.77
        NETMASK=255.255.255.0
        ROUTER=192.0.2.1
        SERVER_ADDRESS=192.0.2.1
        T1=1800
        T2=3150
        LIFETIME=3600
        DNS=192.0.2.1
        CLIENTID=ff9ea9d1fe00020000ab11

        """
    private static let state = """
        # This is private data. Do not parse.
        ADMIN_STATE=configured
        OPER_STATE=routable
        NETWORK_FILE=/etc/systemd/network/10-lan.network
        DNS=192.0.2.1
        CAPTIVE_PORTAL=https://portal.example/api
        DOMAINS=

        """

    @Test func `a lease of systemd-networkd is decoded, from the two files about a link`() throws {
        let lease = DHCPLease(networkd: Array(Self.networkd.utf8), state: Array(Self.state.utf8), from: 1_000)
        #expect(lease == .init(address: try Self.address("192.0.2.77"), end: 4_600, portalURL: Self.url))
        let old = DHCPLease(networkd: Array(Self.networkd.utf8), state: Array("OPER_STATE=routable".utf8), from: 1_000)
        #expect(old?.portalURL == nil)
    }

    // MARK: dhcpcd

    /// `2`, Ethernet, the leased address at offset 16, the cookie at 236, and options.
    private static func message(_ options: [UInt8]) -> [UInt8] {
        var message = [UInt8](repeating: 0, count: 236)
        message[0..<3] = [2, 1, 6]
        message[16..<20] = [192, 0, 2, 51]
        return message + [0x63, 0x82, 0x53, 0x63] + options
    }

    private static let options: [UInt8] =
        [53, 1, 5, 54, 4, 192, 0, 2, 1, 51, 4, 0, 0, 0x0E, 0x10, 1, 4, 255, 255, 255, 0]

    @Test func `a message that dhcpcd has stored is decoded`() throws {
        let message = Self.message(Self.options + [0, 114, 26] + Array(Self.url.utf8) + [255, 114, 1, 65])
        let expected = DHCPLease(address: try Self.address("192.0.2.51"), end: 4_600, portalURL: Self.url)
        #expect(DHCPLease(message: message, from: 1_000) == expected)
    }

    @Test func `an option in two parts is put together`() {
        let parts: [UInt8] = [114, 8] + Array("https://".utf8) + [6, 4, 192, 0, 2, 1, 114, 2] + Array("a/".utf8)
        #expect(DHCPLease(message: Self.message(parts), from: 0)?.portalURL == "https://a/")
    }

    @Test func `zeros at the end of a URL are not part of it`() {
        let option: [UInt8] = [114, 12] + Array("https://a/".utf8) + [0, 0]
        #expect(DHCPLease(message: Self.message(option), from: 0)?.portalURL == "https://a/")
    }

    @Test(arguments: [(1, 108), (2, 44), (3, 44)] as [(UInt8, Int)])
    func `option 52 adds the options in the fields file and sname`(overload: UInt8, offset: Int) {
        let option: [UInt8] = [114, 10] + Array("https://a/".utf8) + [255]
        var message = Self.message(Self.options + [52, 1, overload])
        message.replaceSubrange(offset..<offset + option.count, with: option)
        #expect(DHCPLease(message: message, from: 0)?.portalURL == "https://a/")
        message[message.count - 1] = 3 - overload
        #expect(DHCPLease(message: message, from: 0)?.portalURL == nil)
    }

    @Test func `a field with a name instead of options is ignored`() {
        var message = Self.message(Self.options + [52, 1, 1, 114, 10] + Array("https://a/".utf8))
        message.replaceSubrange(108..<115, with: Array("pxe.cfg".utf8))
        #expect(DHCPLease(message: message, from: 0)?.portalURL == "https://a/")
    }

    @Test func `an option in parts in all fields is put together in their order`() {
        var message = Self.message(Self.options + [52, 1, 3, 114, 4] + Array("http".utf8))
        let (file, name): ([UInt8], [UInt8]) = ([114, 4] + Array("s://".utf8), [114, 2] + Array("a/".utf8))
        message.replaceSubrange(108..<114, with: file)
        message.replaceSubrange(44..<48, with: name)
        #expect(DHCPLease(message: message, from: 0)?.portalURL == "https://a/")
    }

    @Test func `the largest lease time is for ever`() {
        #expect(DHCPLease(message: Self.message([51, 4, 255, 255, 255, 255]), from: 0)?.end == nil)
        #expect(DHCPLease(message: Self.message([51, 4, 255, 255, 255, 254]), from: 5)?.end == 4_294_967_299)
    }

    @Test(arguments: [[114, 9, 65], [114], [51, 4, 0]] as [[UInt8]])
    func `a message whose options don't fit is no lease`(options: [UInt8]) {
        #expect(DHCPLease(message: Self.message(options), from: 0) == nil)
    }

    // MARK: Which lease counts

    @Test func `a lease counts until it ends, on a path with its address, with an https URL`() throws {
        let address = try #require(ValidationPath.wifi.networks.first?.address)
        let lease = DHCPLease(address: address, end: 100, portalURL: Self.url)
        #expect(lease.portalURL(of: .wifi, at: 99) == Self.url)
        #expect(lease.portalURL(of: .wifi, at: 100) == nil)
        #expect(lease.portalURL(of: .wired, at: 99) == nil)
        let foreign = DHCPLease(address: .init(ipv4: 1), end: nil, portalURL: Self.url)
        #expect(foreign.portalURL(of: .wifi, at: 99) == nil)
        for url in ["http://portal.example/", "javascript:alert(1)", RouterOption.unrestrictedURI, "https://a b/", ""] {
            #expect(DHCPLease(address: address, end: nil, portalURL: url).portalURL(of: .wifi, at: 0) == nil)
        }
    }

    @Test func `no content of a file is a trap`() {
        var generator = SeededGenerator(seed: 114)
        let samples = [
            Array(Self.dhclient.utf8), Array(Self.networkManager.utf8), Array(Self.networkd.utf8),
            Array(Self.state.utf8), Self.message(Self.options),
        ]
        for _ in 0..<20_000 {
            var bytes = samples.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let position = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[position] = .random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(position...)
                case 2: bytes.insert(contentsOf: [0x22, 0x5C, 0x7B].shuffled(using: &generator), at: position)
                default: bytes.remove(at: position)
                }
            }
            let leases = [
                DHCPLease(dhclient: bytes, interface: "c0"), DHCPLease(networkManager: bytes),
                DHCPLease(networkd: bytes, state: bytes, from: .max), DHCPLease(message: bytes, from: .max),
            ]
            for lease in leases.compactMap(\.self) { #expect(lease.address.family == .ipv4) }
        }
    }
}
