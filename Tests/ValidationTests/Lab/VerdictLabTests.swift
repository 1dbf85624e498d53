import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore
import Testing

/// Verdicts of a program with the real monitor, in a network with a real router, portals, name servers and translators.
///
/// Each test prints when the verdict came after the event, and counts the packets that the machine sent until then.
@Suite(
    .serialized,
    .blocksItsThread,
    .enabled(if: ProbedNetwork.isInstalled, Comment(rawValue: ProbedNetwork.advice)),
    .enabled(if: NameServiceSetup.isPlain, Comment(rawValue: NameServiceSetup.advice)),
    .timeLimit(.minutes(5))
)
struct VerdictLabTests {
    /// The maximum number of packets until a verdict: two endpoints, each with two queries for its name and at most 12 packets of
    /// TCP and TLS, two lookups of the router's address, and half as much again.
    private static let budget: UInt64 = 60

    private static let names = [("own.example", "203.0.113.7"), ("other.example", "203.0.113.8")]
    private static let plain = "http://own.example/generate_204"

    /// A network with the user's own servers, a name server, and a program that waits for a path.
    private struct Lab {
        let network: ProbedNetwork
        let authority: CertificateAuthority
        let machine: WatchedMachine
        private let servers: [LabServers]
        private let folder: LabFolder

        init(
            _ arguments: [String],
            names: [(String, String)]? = VerdictLabTests.names,
            portal: [String] = []
        ) throws {
            network = try ProbedNetwork()
            authority = try CertificateAuthority("Own")
            folder = try LabFolder()
            var servers = [try LabServers.own(authority, in: network)]
            if let names { servers.append(try .dnsmasq(names, in: network)) }
            if !portal.isEmpty { servers.append(try .nginx(portal, in: network.router)) }
            self.servers = servers
            let roots = try folder.write("roots.pem", authority.rootPEM)
            machine = try WatchedMachine(["--roots", roots] + arguments, on: network)
        }

        /// Gives the machine its path, and waits for the verdict on it, which takes no more packets than the budget.
        func join(_ what: String, expecting verdict: String) throws {
            let packets = try measureJoin(what, expecting: verdict)
            #expect(packets <= VerdictLabTests.budget)
        }

        /// Gives the machine its path, waits for the verdict on it, and returns the number of packets until then.
        @discardableResult
        func measureJoin(_ what: String, expecting verdict: String) throws -> UInt64 {
            let before = try network.machine.sentPackets("wan0")
            let event = try network.join()
            let (packets, _) = try machine.measure(verdict, of: what, since: event, packets: before)
            #expect(packets > 0)
            return packets
        }
    }

    @Test func `a path that works is validated`() throws {
        let lab = try Lab([Self.plain, "tls://other.example:443"])
        try lab.join("a path that works", expecting: "validated")
    }

    @Test func `a validator without endpoints sends no packet`() throws {
        let lab = try Lab([])
        let event = try lab.network.join()
        try lab.machine.measure("notChecked", of: "no endpoints", since: event, packets: 0)
        // Longer than the pause after which a path that is not validated is probed again.
        sleep(2)
        #expect(try lab.network.machine.sentPackets("wan0") == 0)
    }

    // MARK: Portals

    @Test func `a portal that redirects is named with its page, and its end is noticed`() throws {
        let page = "listen 8080; return 302 http://portal.example/login;"
        let lab = try Lab([Self.plain, "https://other.example/"], portal: [page])
        try lab.network.intercept([(80, 8080)])
        try lab.join("nginx that redirects", expecting: "portal:http://portal.example/login")
        let before = try lab.network.machine.sentPackets("wan0")
        let event = ProbedNetwork.now
        try lab.network.setRules("")
        try lab.machine.measure("validated", of: "the portal's end", since: event, packets: before)
    }

    @Test func `a portal that answers 200 to all is named`() throws {
        let lab = try Lab([Self.plain, "https://other.example/"], portal: ["listen 8080; return 200 '<html>Log in';"])
        try lab.network.intercept([(80, 8080)])
        try lab.join("nginx that answers 200 to all", expecting: "portal:")
    }

    @Test func `a name server that lies is a portal's`() throws {
        let page = "listen 192.0.2.1:80; return 302 http://portal.example/login;"
        let lab = try Lab([Self.plain, "https://other.example/"], names: [("#", "192.0.2.1")], portal: [page])
        try lab.join("dnsmasq that lies", expecting: "portal:http://portal.example/login")
    }

    @Test func `TLS with a foreign certificate is an interception`() throws {
        let folder = try LabFolder()
        let foreign = try CertificateAuthority("Hotel").issue(["own.example", "other.example"], addresses: [])
        let (chain, key) = try foreign.write(to: folder)
        let server = "listen 8443 ssl; ssl_certificate \(chain); ssl_certificate_key \(key); return 204;"
        let lab = try Lab(["https://own.example/", "tls://other.example:443"], portal: [server])
        try lab.network.intercept([(443, 8443)], forwards: true)
        try lab.join("TLS interception", expecting: "internet.interception")
    }

    @Test(.enabled(if: RealProxy.isInstalled(.tinyproxy), Comment(rawValue: RealProxy.advice(.tinyproxy))))
    func `a proxy that requires a login is named`() throws {
        let lab = try Lab(["--proxy", "http://192.0.2.1:8888", Self.plain, "https://other.example/"])
        var options = RealProxy.Options()
        (options.user, options.password) = ("guest", "secret")
        let proxy = try RealProxy(.tinyproxy, options, in: lab.network.router)
        try lab.network.router.setSysctl("net.ipv4.conf.lan0.route_localnet", to: 1)
        try lab.network.setRules(
            """
            table ip proxy {
                chain catch {
                    type nat hook prerouting priority -100
                    iifname lan0 tcp dport 8888 dnat to 127.0.0.1:\(proxy.port)
                }
            }
            """
        )
        try lab.join("tinyproxy with a login", expecting: "internet.proxyLogin")
    }

    // MARK: Dead and lossy uplinks

    @Test func `an uplink that is silent behind the router is no internet`() throws {
        let lab = try Lab(["--timeout", "1000", Self.plain, "https://other.example/"])
        try lab.network.drop()
        try lab.join("a silent uplink, timeout 1 s", expecting: "internet.noResponse")
    }

    @Test func `an uplink that the router knows to be cut is no internet`() throws {
        let lab = try Lab([Self.plain, "https://other.example/"])
        try lab.network.router.rtnl.setDown("up0")
        try lab.join("an uplink that is down", expecting: "internet.unreachable")
    }

    @Test func `an uplink that is cut while requests are under way is noticed by their failure`() throws {
        let traffic = ["--traffic", "https://own.example/", "--timeout", "1000"]
        let lab = try Lab(traffic + [Self.plain, "https://other.example/"])
        // The requests have packets of their own, the more the longer the verdict takes.
        try lab.measureJoin("requests over a path that works", expecting: "validated")
        let before = try lab.network.machine.sentPackets("wan0")
        let event = ProbedNetwork.now
        try lab.network.drop()
        // Without an answer of the router, a second round has to confirm the first.
        let what = "a silent cut under requests, timeout 1 s, two rounds"
        try lab.machine.measure("internet.noResponse", of: what, since: event, packets: before)
    }

    @Test func `an uplink that loses 40 percent of the packets is validated`() throws {
        let lab = try Lab([Self.plain, "https://other.example/"])
        try lab.network.drop("numgen random mod 100 < 40")
        let before = try lab.network.machine.sentPackets("wan0")
        let event = try lab.network.join()
        try lab.machine.measure("validated", of: "an uplink that loses 40 %", since: event, packets: before)
    }

    @Test func `a name server that is dead while the path works is named beside the verdict`() throws {
        let arguments = ["--timeout", "1500", Self.plain, "tcp://203.0.113.8:443"]
        let lab = try Lab(arguments, names: nil)
        try lab.join("no name server, and an address", expecting: "validated nameServer")
    }

    @Test func `a name server that is dead is the reason where all endpoints have names`() throws {
        let lab = try Lab(["--timeout", "3000", Self.plain, "https://other.example/"], names: nil)
        try lab.join("no name server, timeout 3 s", expecting: "internet.nameServer")
    }
}
