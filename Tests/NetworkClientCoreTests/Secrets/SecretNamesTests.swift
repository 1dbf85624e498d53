import Testing

@testable import NetworkClientCore

struct SecretNamesTests {
    @Test(
        arguments: [
            "Authorization", "proxy-authorization", "Cookie", "Cookie2", "Set-Cookie", "X-Api-Key", "X-APIKey",
            "x-auth-token", "X-Vault-Token", "Private-Token", "X-Auth-Key", "X-Amz-Security-Token", "X-Functions-Key",
            "Ocp-Apim-Subscription-Key", "X-Password", "PassPhrase", "X-Amz-Signature", "X-Session-Id",
            "Idempotency-Key", "access_token", "apiKey", "key", "pwd", "jwt", "sig", "JSESSIONID", "client_secret",
            "auth", "sid",
        ]
    )
    func `the name of a secret is recognized`(name: String) {
        #expect(SecretNames.isSecret(field: name))
        #expect(SecretNames.isSecret(parameter: name))
    }

    @Test(
        arguments: [
            "Accept", "WWW-Authenticate", "Keep-Alive", "X-Author", "ETag", "Content-Type", "keyword", "page",
            "Authority", "passenger", "design", "X-Error-Code", "",
        ]
    )
    func `another name is not treated as secret`(name: String) {
        #expect(!SecretNames.isSecret(field: name))
        #expect(!SecretNames.isSecret(parameter: name))
    }

    @Test func `names that a user declares are secret, and so are OAuth's parameters`() {
        #expect(SecretNames.isSecret(field: "X-Of-Mine", ["x-OF-mine"]))
        #expect(SecretNames.isSecret(parameter: "code") && !SecretNames.isSecret(field: "code"))
    }

    @Test(
        arguments: [
            ("/", "/"), ("", ""), ("/a?b=c", "/a?b=c"), ("/a?token=b&page=2&pwd", "/a?token=*&page=2&pwd"),
            ("/a?%74oken=b", "/a?%74oken=*"), ("/a?user%5Bpwd%5D=b#code=c", "/a?user%5Bpwd%5D=*#code=*"),
            ("/a;jsessionid=b/c?d", "/a;jsessionid=*?d"), ("http://me:pw@host/a@b", "http://*@host/a@b"),
            ("//me@host?key=", "//*@host?key=*"), ("/a//b@c", "/a//b@c"),
            ("?%=a&%4=b&token%zz=c", "?%=a&%4=b&token%zz=*"), ("http://host", "http://host"),
            ("/ü?token=ü", "/ü?token=*"),
        ]
    )
    func `secrets in a URL are masked`(reference: String, shown: String) {
        #expect(SecretNames.masked(reference, by: "*") == shown)
    }

    @Test func `secrets in a field with a URL are masked`() {
        #expect(SecretNames.shown(field: "Location", "/?code=1", by: "*") == "/?code=*")
        #expect(SecretNames.shown(field: "Accept", "/?code=1", by: "*") == "/?code=1")
        #expect(SecretNames.shown(field: "X-Key", "1", by: "*") == "*")
    }
}
