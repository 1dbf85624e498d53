import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

/// Traces through real routers, by a user without privilege.
@Suite(.timeLimit(.minutes(10))) struct TraceTests {
    private static let families = RouterChain.families

    @Test(arguments: families)
    func `a server is reached by TCP`(family: RouterChain.Family) throws {
        let tool = try RouterChain().trace(family.server, "--tcp", "443")
        let hops = family.hops
        #expect(
            tool.lines == [
                "to \(hops[2]) by TCP to port 443, through wan0, gateway \(hops[0])", "1  \(hops[0])  T  time exceeded",
                "2  \(hops[1])  T  time exceeded", "3  \(hops[2])  T  connection reset",
                "\(hops[2]) is reached after 3 hops, in T.",
            ]
        )
        #expect(tool.code == 0)
        #expect(tool.errors == "")
    }

    @Test(arguments: families)
    func `a server is reached by UDP, and no hop gets more than three packets`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        let tool = try chain.trace(family.server)
        let hops = family.hops
        #expect(
            tool.lines == [
                "to \(hops[2]) by UDP, through wan0, gateway \(hops[0])", "1  \(hops[0])  T  time exceeded",
                "2  \(hops[1])  T  time exceeded", "3  \(hops[2])  T  port unreachable",
                "\(hops[2]) is reached after 3 hops, in T.",
            ]
        )
        #expect(tool.code == 0)
        #expect(try chain.sentDatagrams() <= 3 * 30)
    }

    @Test func `an IPv4-mapped address is traced by IPv4`() throws {
        let run = try RouterChain().trace("::ffff:203.0.113.7", "--tcp", "443")
        #expect(run.lines.last == "203.0.113.7 is reached after 3 hops, in T.", "\(run)")
        #expect(run.code == 0)
    }

    @Test func `a connection and a datagram are answers too`() throws {
        let chain = try RouterChain()
        let listener = try chain.server.run { try LabListener(stream: 80) }
        let connected = try chain.trace("203.0.113.7", "--tcp", "80")
        #expect(connected.lines.contains("3  203.0.113.7  T  connection accepted"))
        #expect(connected.code == 0)
        let echo = try chain.server.run { try LabListener(datagrams: 33434) }
        let answered = try traceAnswered(by: echo, chain)
        #expect(answered.lines.contains("3  203.0.113.7  T  datagram"))
        #expect(answered.code == 0)
        withExtendedLifetime(listener) {}
    }

    /// Traces to a listener on the server, which answers one probe; again if the answer came too late.
    ///
    /// A trace waits for some seconds, in which the thread that answers may not run on a busy machine.
    private func traceAnswered(by listener: LabListener, _ chain: RouterChain) throws -> RouterChain.Run {
        let trace = { () throws -> RouterChain.Run in
            listener.dropPending()
            let tool = try chain.start(RouterChain.command(["203.0.113.7"]))
            try listener.answerOne()
            return try chain.finish(tool)
        }
        var run = try trace()
        for _ in 1...4 where run.code == 1 { run = try trace() }
        return run
    }

    @Test(arguments: families)
    func `a router that sends no errors is a star`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        try chain.silence(chain.first)
        let tool = try chain.trace(family.server)
        let lines = tool.lines
        #expect(lines.dropFirst().prefix(2) == ["1  *", "2  \(family.hops[1])  T  time exceeded"])
        #expect(lines.last == "\(family.server) is reached after 3 hops, in T.")
        #expect(tool.code == 0)
    }

    @Test(arguments: families)
    func `a host that is down is told by the router before it`(family: RouterChain.Family) throws {
        let tool = try RouterChain().trace(family.nobody)
        let lines = tool.lines
        #expect(lines.contains("3  \(family.hops[1])  T  host unreachable"), "\(lines)")
        let sentence = "\(family.nobody) is not reached: \(family.hops[1]), hop 2, says that the host is unreachable"
        #expect(lines.last?.hasPrefix(sentence) == true, "\(lines)")
        #expect(tool.code == 1)
    }

    @Test(arguments: families)
    func `an uplink that swallows packets is behind the last router that answers`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        try chain.reject(family, .blackhole)
        let before = try chain.sentDatagrams()
        let tool = try chain.trace(family.elsewhere)
        let lines = tool.lines
        #expect(lines.dropFirst().prefix(1) == ["1  \(family.hops[0])  T  time exceeded"])
        #expect(lines[2] == "2-30  *")
        let sentence =
            "The last router that answers is the gateway \(family.hops[0]); nothing answers beyond it, so look at"
        #expect(lines.last?.hasPrefix(sentence) == true, "\(lines)")
        #expect(tool.code == 1)
        #expect(try chain.sentDatagrams() - before <= 3 * 30)
    }

    @Test(arguments: families, [nil, "443"])
    func `a router that prohibits is named`(family: RouterChain.Family, port: String?) throws {
        let chain = try RouterChain()
        try chain.reject(family, .prohibit)
        let tool = try port.map { try chain.trace(family.elsewhere, "--tcp", $0) } ?? chain.trace(family.elsewhere)
        let lines = tool.lines
        #expect(lines.contains("2  \(family.hops[1])  T  administratively prohibited"), "\(lines)")
        let sentence =
            "\(family.elsewhere) is not reached: \(family.hops[1]), hop 2, says that this is administratively"
        #expect(lines.last?.hasPrefix(sentence) == true, "\(lines)")
        #expect(tool.code == 1)
    }

    @Test(arguments: families)
    func `routers that send packets to each other are a loop`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        let back = family.family == .ipv4 ? "198.51.100.1" : "2001:db8:2::1"
        try chain.second.rtnl.addRoute(family.elsewhere, via: back, on: "down0")
        let tool = try chain.trace(family.elsewhere)
        let lines = tool.lines
        #expect(lines.last?.contains("is not reached: packets ") == true, "\(lines)")
        #expect(lines.last?.hasSuffix(" on.") == true, "\(lines)")
        #expect(lines.count < 30)
        #expect(tool.code == 1)
    }

    @Test(arguments: families)
    func `a link with a smaller MTU is found with large packets`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        try chain.second.rtnl.setMTU("up0", to: 1300)
        try chain.server.rtnl.setMTU("eth0", to: 1300)
        let tool = try chain.trace(family.server, "--size", "1500")
        let lines = tool.lines
        let hop = "3  \(family.server)  T  port unreachable; \(family.hops[1]) says: packet too big, MTU 1300"
        #expect(lines.contains(hop), "\(lines)")
        #expect(lines.last?.hasSuffix(" Packets of more than 1300 bytes do not pass \(family.hops[1]).") == true)
        #expect(tool.code == 0)
    }

    @Test func `packets larger than the machine's own link are made smaller`() throws {
        let tool = try RouterChain().trace("203.0.113.7", "--size", "9000")
        let lines = tool.lines
        #expect(lines.last?.hasSuffix(" Packets of more than 1500 bytes do not pass 192.0.2.2.") == true, "\(lines)")
        #expect(tool.code == 0)
    }

    @Test(arguments: families)
    func `a gateway that is off, and a neighbour that is missing, are told from a silent path`(
        family: RouterChain.Family
    ) throws {
        let chain = try RouterChain()
        let lookup = family.family == .ipv4 ? "ARP" : "neighbour discovery"
        let missing = try chain.trace(family.neighbor)
        let sentence = "\(family.neighbor) does not answer to \(lookup) on wan0: it is down, or not on that link."
        #expect(missing.lines.last == sentence)
        #expect(missing.code == 1)
        let address = family.family == .ipv4 ? "192.0.2.1/24" : "2001:db8:1::1/64"
        try chain.first.rtnl.deleteAddress(address, on: "lan0")
        let off = try chain.trace(family.server)
        let gateway =
            "The gateway \(family.hops[0]) does not answer to \(lookup) on wan0: no packet leaves this machine."
        #expect(off.lines.last == gateway)
        #expect(off.code == 1)
    }

    @Test(arguments: ["127.0.0.1", "::1", "192.0.2.2", "2001:db8:1::2"])
    func `an address of the machine is reached without a packet`(address: String) throws {
        let chain = try RouterChain()
        let tool = try chain.trace(address)
        #expect(tool.lines.last == "\(address) is an address of this machine: packets to it do not leave it.")
        #expect(tool.code == 0)
        #expect(try chain.sentDatagrams() == 0)
    }

    @Test(
        arguments: [
            (.unreachable, "a route of this machine says that it is unreachable."),
            (.prohibit, "a route or a firewall of this machine prohibits it."),
            (.blackhole, "a route of type blackhole discards it, or the address is no host's."),
        ] as [(RouteType, String)]
    )
    func `a route of the machine that refuses is explained`(type: RouteType, words: String) throws {
        let chain = try RouterChain()
        var route = RouteMessage(destination: .init(.init(ipv4: 0xC612_0001), length: 32))
        route.type = type
        try chain.home.rtnl.route(.add, route)
        let tool = try chain.trace("198.18.0.1")
        #expect(tool.lines.last == "No packet is sent to 198.18.0.1: \(words)")
        #expect(tool.code == 2)
    }

    @Test func `a machine without a route says so at once`() throws {
        let chain = try RouterChain()
        try chain.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
        let tool = try chain.trace("203.0.113.7")
        #expect(tool.lines.last == "No packet is sent to 203.0.113.7: there is no route.")
        #expect(tool.code == 2)
        let bound = try chain.trace("203.0.113.7", "--interface", "wan0")
        #expect(bound.lines.last == "No packet is sent to 203.0.113.7: no route to it leads through wan0.")
        #expect(bound.code == 2)
    }

    @Test func `the interface is chosen by name, against the kernel's preference`() throws {
        let chain = try RouterChain()
        try chain.home.rtnl.createVeth("better0", index: 11, peer: "far0", peerIndex: 21)
        try chain.home.rtnl.setUp("far0", "better0")
        try chain.home.rtnl.addAddress("10.0.0.2/24", on: "better0")
        try chain.home.rtnl.addRoute("203.0.113.0/24", via: "10.0.0.1", on: "better0")
        let tool = try chain.trace("203.0.113.7", "--interface", "wan0")
        #expect(tool.lines.first == "to 203.0.113.7 by UDP, through wan0, gateway 192.0.2.1")
        #expect(tool.code == 0)
        let missing = try chain.trace("203.0.113.7", "--interface", "wan9")
        #expect(missing.errors.hasPrefix("netwatch: there is no interface 'wan9'; there are "))
        #expect(missing.code == 64)
    }

    @Test func `a link-local address is traced on the link of its zone`() throws {
        let chain = try RouterChain()
        try chain.first.rtnl.addAddress("fe80::77/64", on: "lan0")
        for arguments in [["fe80::77%wan0"], ["fe80::77%10"], ["fe80::77", "--interface", "wan0"]] {
            let tool = try chain.run(RouterChain.command(arguments))
            #expect(tool.lines.last == "fe80::77 is reached after 1 hop, in T.", "\(arguments)")
            #expect(tool.code == 0)
        }
    }

    @Test func `another namespace is traced with privilege, and refused without`() throws {
        let chain = try RouterChain()
        let command = RouterChain.command(["203.0.113.7", "--netns", chain.home.path])
        let tool = try chain.finish(ToolProcess(command, in: LabNamespace()))
        #expect(tool.lines.last == "203.0.113.7 is reached after 3 hops, in T.")
        #expect(tool.code == 0)
        let refused = try chain.trace("203.0.113.7", "--netns", "/proc/1/ns/net")
        #expect(refused.code == 77)
    }

    @Test func `names of hops come from the hosts file, and from nowhere unless asked for`() throws {
        let chain = try RouterChain()
        let hosts = try TemporaryFile(Array("192.0.2.1 gateway.example\n203.0.113.7 server.example\n".utf8))
        let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\""
        let wrapper = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, hosts.path]
        func trace(_ arguments: String...) throws -> RouterChain.Run {
            try chain.finish(ToolProcess(RouterChain.command(arguments), in: chain.home, through: wrapper))
        }
        let named = try trace("server.example", "--names", "-4")
        let lines = named.lines
        #expect(lines.first?.hasPrefix("to server.example (203.0.113.7) by UDP, ") == true, "\(lines)")
        #expect(lines[1] == "1  gateway.example (192.0.2.1)  T  time exceeded")
        #expect(lines[2] == "2  198.51.100.2  T  time exceeded")
        #expect(named.code == 0)
        let plain = try trace("server.example")
        #expect(plain.lines[1] == "1  192.0.2.1  T  time exceeded")
        let other = try trace("server.example", "-6")
        #expect(other.code == 2)
    }

    @Test(arguments: families)
    func `JSON has a line for each hop, silent ones too, and the result`(family: RouterChain.Family) throws {
        let chain = try RouterChain()
        try chain.reject(family, .blackhole)
        let reached = try TraceSchema.parse(chain.trace(family.server, "--json").text)
        #expect(reached.map { $0["address"]?.text } == family.hops + [family.server])
        #expect(reached.last?["result"]?.text == "reached")
        #expect(reached.last?["gateway"]?.text == family.hops[0])
        let silent = try TraceSchema.parse(chain.trace(family.elsewhere, "--json", "--hops", "4").text)
        #expect(silent.map { $0["address"]?.text } == [family.hops[0], nil, nil, nil, family.hops[0]])
        #expect(silent.compactMap { $0["hop"]?.number } == [1, 2, 3, 4, 1])
        #expect(silent.last?["result"]?.text == "silentBeyond")
    }

    @Test func `explain appends how far packets come`() throws {
        let chain = try RouterChain()
        let tool = try chain.run(["explain", "203.0.113.7", "--trace", "--timeout", "100s"])
        #expect(
            tool.lines == [
                "203.0.113.7: wifi", "the kernel's route: via 192.0.2.1 dev wan0 source 192.0.2.2",
                "trace: 203.0.113.7 is reached after 3 hops, in T.",
            ]
        )
        #expect(tool.code == 0)
        try chain.reject(Self.families[0], .prohibit)
        let refused = try chain.run(["explain", "198.18.0.1", "--trace", "--timeout", "100s"])
        #expect(
            refused.lines.last?.hasPrefix("trace: 198.18.0.1 is not reached: 198.51.100.2, hop 2, says") == true
        )
        #expect(refused.code == 1)
    }

    @Test func `a deadline ends a trace with what is known`() throws {
        let chain = try RouterChain()
        try chain.reject(Self.families[0], .blackhole)
        // On a slow machine, the first router may not have answered by then; after 5 s, the trace ends by itself.
        var tool = try chain.trace("198.18.0.1", "--timeout", "1s")
        for limit in ["2s", "3s", "4s"] where tool.lines.last?.contains("the last router") != true {
            tool = try chain.trace("198.18.0.1", "--timeout", limit)
        }
        #expect(
            tool.lines.last?.hasPrefix("The time is up, and 198.18.0.1 has not answered; the last router") == true
        )
        #expect(tool.code == 1)
    }

    @Test(.enabled(if: Loss.isAvailable, "this kernel has no netem"))
    func `a server is reached although 40 percent of the packets are lost`() throws {
        let chain = try RouterChain()
        try Loss.add(percent: 40, to: "up0", in: chain.first)
        // Three probes of a server are lost with 6.4 % likelihood, each of five times with one in a million.
        let isReached = try (0..<5).contains { _ in try chain.trace("203.0.113.7").code == 0 }
        #expect(isReached)
    }

    @Test(arguments: [
        ([], "Missing expected argument '<host>'"), (["http://x/"], "leave out scheme"),
        (["fe80::1"], "say on which link, as in fe80::1%eth0"), (["fe80::1%"], "the zone is empty"),
        (["192.0.2.7%eth0"], "only link-local IPv6 addresses have a zone"), (["224.0.0.1"], "of no single host"),
        (["::"], "of no single host"), (["192.0.2.255"], "is a broadcast address"),
        (["192.0.2.7", "-6"], "leave out -6"),
        (["2001:db8::7", "-4"], "leave out -4"), (["server.example", "-4", "-6"], "exclude each other"),
        (["192.0.2.7", "--hops", "0"], "from 1 to 64"), (["192.0.2.7", "--hops", "65"], "from 1 to 64"),
        (["192.0.2.7", "--tcp", "0"], "from 1 to 65535"), (["192.0.2.7", "--tcp", "http"], "from 1 to 65535"),
        (["192.0.2.7", "--size", "9"], "from 64 to 65535"), (["192.0.2.7", "--timeout", "5"], "the unit is missing"),
        (["192.0.2.7", "--tcp", "80", "--size", "100"], "leave out --size or --tcp"),
        (["fe80::1%wan0", "--interface", "lo"], "leave one out"),
    ])
    func `wrong arguments are refused with a remedy`(arguments: [String], words: String) throws {
        let tool = try RouterChain().run(["trace"] + arguments)
        #expect(tool.code == 64)
        let errors = tool.errors
        #expect(errors.contains(words), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
        #expect(tool.text == "")
    }

    @Test(arguments: [("203.0.113.7", 0), ("198.18.0.1", 1)])
    func `a closed pipe ends the output, and changes no exit status`(host: String, code: Int32) throws {
        let chain = try RouterChain()
        try chain.reject(Self.families[0], .prohibit)
        let pipe = try Pipe()
        close(pipe.reader)
        let tool = try chain.start(RouterChain.command([host]), stdout: .descriptor(pipe.writer))
        close(pipe.writer)
        let run = try chain.finish(tool)
        #expect(run.code == code && run.errors == "", "\(run)")
    }

    @Test func `a trace in explain needs a host`() throws {
        let tool = try RouterChain().run(["explain", "--trace"])
        #expect(tool.code == 64)
        #expect(tool.errors.contains("write 'netwatch explain HOST --trace'"))
    }
}
