import NetworkClientCore
import Testing

/// The rules of curl's own test of `no_proxy` (its unit test 1614), and those of its documentation.
struct ProxyExceptionsTests {
    @Test(arguments: [
        ("www.example.com", "localhost,.example.com,.example.de", true),
        ("www.example.com.", "localhost,.example.com,.example.de", true),
        ("example.com", "localhost,.example.com,.example.de", true),
        ("example.com.", "localhost,.example.com,.example.de", true),
        ("www.example.com", "localhost,.example.com.,.example.de", true),
        ("www.example.com", "localhost,www.example.com.,.example.de", true),
        ("example.com", "localhost,example.com,.example.de", true),
        ("nexample.com", "localhost,example.com,.example.de", false),
        ("www.example.com", "localhost,example.com,.example.de", true),
        ("www.example.com", "www2.example.com, .example.net", false),
        ("nonexample.com", ".example.com, .example.net", false),
        ("example.com.org", "example.com", false),
        ("foobar", "barfoo", false), ("foobar", "foobar", true), ("localhost", "localhost,127.0.0.1", true),
        ("bar", "foo,,,,,              bar, ::1/64", true), ("bar", "foo, BAr", true),
        // As curl accepted it until 8.8, and as users write it.
        ("www.example.com", "localhost .example.com .example.de", true), ("b", "a\tb", true),
        // Ports are not part of a name.
        ("example.com", "example.com:80", false),
    ])
    func `names match themselves and their subdomains`(host: String, list: String, isExcepted: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isExcepted)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1,localhost", true), ("127.0.0.1", "127.0.0.1/8,localhost,", true),
        ("127.0.0.1", "127.0.0.1/31,localhost,", true), ("192.168.0.1", "foobar", false),
        ("192.168.0.1", "192.168.0.0/16", true), ("192.168.0.1", "192.168.0.0/16a", false),
        ("192.168.0.1", "192.168.0.0/16 ", true), ("192.168.0.1", "192.168.0.0/a16", false),
        ("192.168.0.1", "192.168.0.0/ 16", false), ("192.168.0.1", "192.168.0.0/32", false),
        ("192.168.0.1", "192.168.0.1/32", true), ("192.168.0.1", "192.168.0.1/33", false),
        ("192.168.0.1", "192.168.0.1/", false), ("192.168.0.1", "192.168.0.1/+24", false),
        ("192.168.0.1", "192.168.0.0", false), ("192.168.1.1", "192.168.0.0/24", false),
        ("192.168.1.1", "foo, bar, 192.168.0.0/16", true), ("192.168.1.1", "1.1", false),
        // A prefix length of 0 means the whole address.
        ("192.168.0.1", "0.0.0.0/0", false), ("192.168.0.1", "192.168.0.1/0", true),
        ("127.0.0.1", "127.0.0.1.127.0.0.1", false),
    ])
    func `IPv4 addresses match addresses and networks`(host: String, list: String, isExcepted: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isExcepted)
    }

    @Test(arguments: [
        ("::1", "foo, bar, 192.168.0.0/16", false), ("::1", "foo, bar, ::1/64", true), ("::1", "::1/129", false),
        ("::1", "::1/128", true), ("::1", "0:0::1", true), ("::1", "::1/a127", false), ("::1", "::1/127a", false),
        ("2001:db8:8000::1", "2001:db8::/65", false), ("2001:db8::1", "2001:db8::/65", true),
        ("fe80::1%eth0", "fe80::/10", true), ("fe80::1%eth0", "fe80::1", true),
        // Without brackets, as in curl's documentation.
        ("::1", "[::1]", false),
    ])
    func `IPv6 addresses match addresses and networks`(host: String, list: String, isExcepted: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isExcepted)
    }

    @Test(arguments: ["example.com", "192.0.2.1", "::1"])
    func `a single asterisk matches every host, one among others matches none`(host: String) {
        #expect(ProxyExceptions("*").contains(host))
        for list in ["", "*,", "a,*", "*.com", "*.0.2.1", ".", ",", " "] {
            #expect(!ProxyExceptions(list).contains(host), "\(list)")
        }
    }
}
