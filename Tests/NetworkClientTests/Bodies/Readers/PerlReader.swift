import HTTPLab

extension FormReader {
    /// Perl's CGI.pm, which takes what is between two quotes, as browsers mean it, behind HTTP::Server::Simple.
    ///
    /// It returns the parts by name, and the types of files only. What it leaves behind, the contents of forms, is in the
    /// folder.
    static func perl(in folder: LabFolder) throws -> Self {
        try .init("TMPDIR=\(folder.path)", ["perl", "-e", perlProgram])
    }

    static let hasPerl = can("perl", ["-MHTTP::Server::Simple::CGI", "-MJSON::PP", "-e", "1"])

    private static let perlProgram = #"""
        package Reader;
        use strict;
        use base qw(HTTP::Server::Simple::CGI);
        use Socket;
        use JSON::PP;

        sub port { 0 }
        sub print_banner {}

        sub after_setup_listener {
            my ($port) = sockaddr_in(getsockname(HTTP::Server::Simple::HTTPDaemon));
            $| = 1;
            print STDOUT "port $port\n";
        }

        sub handle_request {
            my ($self, $form) = @_;
            my @parts;
            for my $name ($form->multi_param) {
                for my $value ($form->multi_param($name)) {
                    my $contents = "$value";
                    my $isFile = ref($value) ? 1 : 0;
                    if ($isFile) { binmode $value; local $/; $contents = <$value>; }
                    push @parts, {
                        name => unpack("H*", $name),
                        fileName => $isFile ? unpack("H*", "$value") : undef,
                        type => $isFile ? $form->uploadInfo($value)->{"Content-Type"} : undef,
                        contents => unpack("H*", $contents),
                    };
                }
            }
            my $response = encode_json(\@parts);
            my $length = length($response);
            print "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: $length\r\n\r\n$response";
        }

        package main;
        Reader->new->run;
        """#
}
