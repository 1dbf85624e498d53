import Testing

@testable import netwatch_fetch

@Suite struct ResumeCommandTests {
    @Test(arguments: [
        ("a", "a"), ("-o", "-o"), ("http://x/a?b=c", "'http://x/a?b=c'"), ("", "''"), ("a b", "'a b'"),
        ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"), ("~", "'~'"), ("a\nb", #"$'a\x0ab'"#),
        ("\u{1B}'\\", #"$'\x1b\'\\'"#),
        ("é", "'é'"), ("\u{202E}", #"$'\xe2\x80\xae'"#),
        ("a'\u{301}b", #"'a'\''"# + "\u{301}b'"),
    ])
    func `a word as a shell reads it`(word: String, text: String) {
        #expect(ShellText.quoted(word) == text)
    }

    @Test(arguments: [
        (["-u", "me:x"], ["-u", "me"]), (["--user", "me:x"], ["--user", "me"]), (["--user=me:x"], ["--user=me"]),
        (["-ume:x"], ["-ume"]), (["-Lu", "me:x:y"], ["-Lu", "me"]), (["-u", "me"], ["-u", "me"]),
        (["-H", "Authorization: Bearer x"], ["-H", "Authorization: ..."]), (["-HX-Api-Key:x"], ["-HX-Api-Key: ..."]),
        (["--header=Cookie: a=b", "-H", "Accept: x"], ["--header=Cookie: ...", "-H", "Accept: x"]),
        (["-x", "http://me:x@proxy:3128"], ["-x", "http://me:...@proxy:3128"]),
        (["--proxy", "me:x@y@proxy"], ["--proxy", "me:...@proxy"]), (["-x", "proxy:3128"], ["-x", "proxy:3128"]),
        (
            ["-H", "X-Auth-Key: x", "-H", "Ocp-Apim-Subscription-Key:x"],
            ["-H", "X-Auth-Key: ...", "-H", "Ocp-Apim-Subscription-Key: ..."]
        ),
        (["-u", "me:\u{301}x"], ["-u", "me"]), (["-x", "me:\u{301}x@\u{301}y@proxy"], ["-x", "me:...@proxy"]),
        (["http://me:x@host/a:b@c"], ["http://me:...@host/a:b@c"]), (["http://me@host/"], ["http://me@host/"]),
        (["-b", "sid=x", "-jb", "jar", "--cookie=sid=x"], ["-b", "...", "-jb", "jar", "--cookie=..."]),
        (["--resume", "-o", "user:x", "http://x/-u"], ["--resume", "-o", "user:x", "http://x/-u"]),
    ])
    func `secrets are left out`(given: [String], shown: [String]) {
        #expect(ResumeCommand.words(["netwatch", "fetch"] + given) == ["netwatch", "fetch"] + shown)
    }
}
