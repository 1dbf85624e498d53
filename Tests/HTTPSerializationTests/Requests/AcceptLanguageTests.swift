import Testing

@testable import HTTPSerialization

/// Tests of the user's languages in the environment.
struct AcceptLanguageTests {
    @Test(
        arguments: [
            (["LANG": "de_CH.UTF-8"], "de-CH;q=1"),
            (["LANG": "de_CH.UTF-8", "LANGUAGE": "de_CH:de:en"], "de-CH;q=1, de;q=0.9, en;q=0.8"),
            (["LANG": "en_US.UTF-8", "LC_ALL": "fr_FR"], "fr-FR;q=1"),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "it_IT"], "it-IT;q=1"),
            (["LANG": "C", "LANGUAGE": "de"], nil),
            (["LANG": "C.UTF-8"], nil), (["LANG": "POSIX"], nil), (["LANG": ""], nil), ([:], nil),
            (["LANG": "sr_RS.UTF-8@latin"], "sr-Latn-RS;q=1"), (["LANG": "ca_ES@valencia"], "ca-ES;q=1"),
            (["LANG": "en\r\nX: y"], nil),
            (["LANG": "_@latin"], nil), (["LANG": "_"], nil), (["LANG": "-_.UTF-8"], nil), (["LANG": "@latin"], nil),
            (["LANG": "de", "LANGUAGE": "_:_@latin:en"], "en;q=1"),
            (
                ["LANG": "a", "LANGUAGE": "a:b:c:d:e:f:g:h"],
                "a;q=1, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"
            ),
            (["LANG": "de", "LANGUAGE": "de:de:en"], "de;q=1, en;q=0.9"),
        ] as [([String: String], String?)]
    )
    func `the value follows from the environment`(environment: [String: String], expected: String?) {
        #expect(AcceptLanguage.value(in: environment) == expected)
    }
}
