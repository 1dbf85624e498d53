import NetworkLab
import Testing

@Suite("scripts/setup")
struct SetupScriptTests {
    private let stage: ScriptStage

    init() throws { stage = try ScriptStage() }

    @Test("If everything is installed it prints nothing, needs no privilege and installs nothing")
    func nothingMissing() throws {
        try stage.stand(in: "id", "echo 1000")
        let outcome = try stage.run("setup", "--for-tests")
        #expect(outcome.code == 0)
        #expect(outcome.output + outcome.errors == "")
        #expect(try stage.calls(of: "apt-get", "sudo").isEmpty)
    }

    @Test("Only missing packages are installed")
    func installsMissing() throws {
        try stage.stand(in: "pkg-config", "[ \"$2\" = libnl-3.0 ]")
        for command in ["ip", "tmux", "tinyproxy", "squid", "microsocks", "zsh", "fish", "mandoc"] {
            try stage.remove(command)
        }
        try stage.stand(in: "apt-get")
        let outcome = try stage.run("setup", "--for-tests")
        #expect(outcome.code == 0)
        #expect(outcome.output == "")
        let proxies = "tinyproxy-bin squid microsocks"
        let shells = "zsh fish mandoc"
        let libraries =
            "libnl-route-3-dev libnl-genl-3-dev zlib1g-dev libsqlite3-dev libkrb5-dev libpsl-dev libncurses-dev"
        let missing = "\(libraries) iproute2 tmux \(proxies) \(shells)"
        #expect(outcome.errors == "setup: installing \(missing) (apt-get)\n")
        let install = "apt-get install -y --no-install-recommends \(missing)"
        #expect(try stage.calls(of: "apt-get") == [install])
    }

    @Test("Form parsers are checked by importing their modules")
    func formReaders() throws {
        try stage.stand(in: "perl", "false")
        try stage.stand(in: "python3", "false")
        try stage.stand(in: "apt-get")
        #expect(try stage.run("setup").code == 0)
        #expect(try stage.calls(of: "apt-get").isEmpty)
        #expect(try stage.run("setup", "--for-tests").code == 0)
        let install = "apt-get install -y --no-install-recommends python3 libhttp-server-simple-perl"
        #expect(try stage.calls(of: "apt-get") == [install])
    }

    @Test("Dependencies of packaging are required only to build a package")
    func packages() throws {
        try stage.remove("dpkg-shlibdeps")
        try stage.stand(in: "apt-get")
        #expect(try stage.run("setup").code == 0)
        #expect(try stage.calls(of: "apt-get").isEmpty)
        #expect(try stage.run("setup", "--for-packages").code == 0)
        #expect(try stage.calls(of: "apt-get") == ["apt-get install -y --no-install-recommends binutils dpkg-dev"])
    }

    @Test("Dependencies of tests are not required without tests")
    func toolOnly() throws {
        try stage.remove("ip")
        try stage.remove("unshare")
        #expect(try stage.run("setup").code == 0)
        #expect(try stage.calls(of: "apt-get").isEmpty)
    }

    @Test("Dependencies of the kernel lab are required only for the lab")
    func kernelLab() throws {
        try stage.remove("hostapd")
        try stage.stand(in: "apt-get")
        #expect(try stage.run("setup", "--for-tests").code == 0)
        #expect(try stage.calls(of: "apt-get").isEmpty)
        #expect(try stage.run("setup", "--for-tests", "--for-kernel-lab").code == 0)
        #expect(try stage.calls(of: "apt-get") == ["apt-get install -y --no-install-recommends hostapd"])
    }

    @Test("A dry run prints the missing packages, and installs nothing")
    func dryRun() throws {
        try stage.remove("hostapd")
        try stage.remove("wg")
        try stage.stand(in: "apt-get")
        let outcome = try stage.run("setup", "--for-kernel-lab", "--dry-run")
        #expect(outcome.code == 0)
        #expect(outcome.output == " hostapd wireguard-tools")
        #expect(try stage.calls(of: "apt-get").isEmpty)
    }

    @Test("An unknown option is refused")
    func usage() throws {
        #expect(try stage.run("setup", "--for-everything").code == 64)
    }

    @Test("If the installation fails, the package lists are updated and it is retried once")
    func staleLists() throws {
        try stage.stand(in: "pkg-config", "false")
        try stage.stand(in: "apt-get", "[ \"$1\" = update ] && : >\"$HOME/updated\"; [ -e \"$HOME/updated\" ]")
        #expect(try stage.run("setup").code == 0)
        let missing =
            "libnl-3-dev libnl-route-3-dev libnl-genl-3-dev zlib1g-dev libsqlite3-dev libkrb5-dev libpsl-dev libncurses-dev"
        let install = "apt-get install -y --no-install-recommends \(missing)"
        #expect(try stage.calls(of: "apt-get") == [install, "apt-get update", install])
    }

    @Test("If the installation is impossible, the last line has the remedy")
    func failure() throws {
        try stage.stand(in: "pkg-config", "[ \"$2\" != libnl-3.0 ]")
        try stage.stand(in: "apt-get", "false")
        let outcome = try stage.run("setup")
        #expect(outcome.code == 69)
        #expect(outcome.errors.hasSuffix("setup: that failed: as root, run apt-get install libnl-3-dev\n"))
    }

    @Test("A user who is not root installs through sudo, which never asks for a password without a terminal")
    func sudo() throws {
        try stage.stand(in: "id", "echo 1000")
        try stage.stand(in: "pkg-config", "[ \"$2\" != libnl-3.0 ]")
        try stage.stand(in: "apt-get")
        try stage.stand(in: "sudo", "shift; exec \"$@\"")
        #expect(try stage.run("setup").code == 0)
        let install = "apt-get install -y --no-install-recommends libnl-3-dev"
        let calls = ["sudo -n env DEBIAN_FRONTEND=noninteractive \(install)", install]
        #expect(try stage.calls(of: "sudo", "apt-get") == calls)
    }

    @Test("Without root and sudo one line has the remedy")
    func neitherRootNorSudo() throws {
        try stage.stand(in: "id", "echo 1000")
        try stage.stand(in: "pkg-config", "[ \"$2\" != libnl-3.0 ]")
        try stage.stand(in: "apt-get")
        let outcome = try stage.run("setup")
        #expect(outcome.code == 77)
        let line = "setup: missing, and neither root nor sudo to install it: as root, run apt-get install libnl-3-dev\n"
        #expect(outcome.errors == line)
    }

    @Test("Without apt-get one line names the missing packages")
    func otherSystems() throws {
        try stage.stand(in: "pkg-config", "[ \"$2\" != libnl-3.0 ]")
        let outcome = try stage.run("setup")
        #expect(outcome.code == 69)
        let line = "setup: missing, and there is no apt-get here: install what Debian calls libnl-3-dev\n"
        #expect(outcome.errors == line)
    }

    @Test("Without a toolchain one line says where to get one")
    func noToolchain() throws {
        try stage.remove("swift")
        let outcome = try stage.run("setup")
        #expect(outcome.code == 69)
        #expect(outcome.errors.contains("https://www.swift.org/install/linux/"))
    }
}
