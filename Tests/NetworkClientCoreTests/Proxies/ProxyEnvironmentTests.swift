import NetworkClientCore
import Testing

struct ProxyEnvironmentTests {
    private func read(_ variables: [String: String]) -> [String?] {
        let environment = ProxyEnvironment { variables[$0] }
        return [environment.http, environment.https, environment.exceptions].map { setting in
            setting.map { "\($0.variable)=\($0.value)" }
        }
    }

    @Test func `each scheme's own variable precedes the common one`() {
        #expect(read([:]) == [nil, nil, nil])
        #expect(read(["http_proxy": "a", "all_proxy": "b"]) == ["http_proxy=a", "all_proxy=b", nil])
        #expect(read(["https_proxy": "a", "ALL_PROXY": "b"]) == ["ALL_PROXY=b", "https_proxy=a", nil])
    }

    @Test func `lower case precedes upper case`() {
        let both = ["https_proxy": "a", "HTTPS_PROXY": "b", "no_proxy": "c", "NO_PROXY": "d"]
        #expect(read(both) == [nil, "https_proxy=a", "no_proxy=c"])
        #expect(read(["HTTPS_PROXY": "b", "NO_PROXY": "d"]) == [nil, "HTTPS_PROXY=b", "NO_PROXY=d"])
        #expect(read(["all_proxy": "a", "ALL_PROXY": "b"]) == ["all_proxy=a", "all_proxy=a", nil])
    }

    @Test func `a variable that a client of a web server can set is not read`() {
        #expect(read(["HTTP_PROXY": "evil"]) == [nil, nil, nil])
    }

    @Test func `an empty variable is ignored`() {
        #expect(read(["http_proxy": "", "all_proxy": "a", "no_proxy": "", "NO_PROXY": "b"])[0] == "all_proxy=a")
        #expect(read(["no_proxy": "", "NO_PROXY": "b"])[2] == "NO_PROXY=b")
    }
}
