import NetworkClientCore
import Testing

/// The limits of a store, and the order in which cookies are removed (RFC 6265bis, 5.7).
struct CookieLimitTests {
    private let url = "https://www.example.com/"

    @Test func `a domain has at most 50 cookies, and the one unused for longest is removed`() {
        let lab = CookieLab()
        for number in 1...50 { lab.receive("c\(number)=v; path=/p\(number)", url) }
        // Used after all others were set.
        #expect(lab.field(url + "p1") == "c1=v")
        lab.receive("new=v; path=/new", url)
        #expect(lab.table.count == 50)
        #expect(lab.field(url + "p1") == "c1=v" && lab.field(url + "new") == "new=v")
        #expect(lab.field(url + "p2").isEmpty && lab.field(url + "p3") == "c3=v")
    }

    @Test func `expired cookies are removed first, then those that do not require TLS`() {
        let lab = CookieLab(limits: .init(perDomain: 3))
        lab.receive("a=1; secure", url)
        lab.receive("b=2", url)
        lab.receive("c=3; secure; max-age=5", url)
        lab.now += 5
        lab.receive("d=4; secure", url)
        #expect(lab.field(url) == "a=1; b=2; d=4")
        lab.receive("e=5; secure", url)
        #expect(lab.field(url) == "a=1; d=4; e=5")
        // The new cookie is itself the only one that does not require TLS.
        lab.receive("f=6", url)
        #expect(lab.field(url) == "a=1; d=4; e=5")
        #expect(lab.table.count == 3)
    }

    @Test func `a domain with too many cookies does not cost others theirs`() {
        let lab = CookieLab()
        lab.receive("keep=1", "https://other.example.org/")
        for number in 1...500 { lab.receive("c\(number)=v", url) }
        #expect(lab.field("https://other.example.org/") == "keep=1")
        #expect(lab.table.count == 51)
    }

    @Test func `all domains have at most 3000 cookies together`() {
        let lab = CookieLab()
        for number in 1...3_000 { lab.receive("a=\(number)", "https://h\(number).example.com/") }
        #expect(lab.field("https://h1.example.com/") == "a=1")
        lab.receive("a=3001", "https://h3001.example.com/")
        #expect(lab.table.count == 3_000)
        #expect(lab.field("https://h1.example.com/") == "a=1" && lab.field("https://h2.example.com/").isEmpty)
        #expect(lab.field("https://h3001.example.com/") == "a=3001")
    }

    @Test func `cookies are listed by age, and removed by a condition`() {
        let lab = CookieLab()
        for name in ["a", "b", "c"] { lab.receive("\(name)=1", "https://\(name).example.com/") }
        lab.table.remove { $0.name == "b" }
        #expect(lab.table.cookies(now: lab.now).map(\.domain) == ["a.example.com", "c.example.com"])
        #expect(lab.table.count == 2)
    }
}
