/// The media types of files by the extension of their names.
///
/// The table is built in, so that the `Content-Type` of an upload does not depend on a machine's `mime.types`.
package enum FileMediaType {
    /// The type of a file with an unknown extension (RFC 2046, 4.5.1).
    package static let unknown = "application/octet-stream"

    /// Returns the media type for the extension of a file name, such as `image/jpeg` for `photo.JPG`.
    ///
    /// - Parameter name: A name or a path.
    /// - Returns: The type; ``unknown`` if there is no extension, or an unknown one.
    package static func type(ofFileNamed name: String) -> String {
        let last = name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return unknown }
        return byExtension[last[last.index(after: dot)...].lowercased()] ?? unknown
    }

    /// The types by extension in lower case.
    static let byExtension: [String: String] = {
        var types: [String: String] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            for ending in words.dropFirst() { types[String(ending)] = words.first.map { String($0) } }
        }
        return types
    }()
}

extension FileMediaType {
    /// One type and its extensions per line: as registered with IANA, otherwise as common in browsers and servers.
    static let table = """
        application/atom+xml atom
        application/epub+zip epub
        application/geo+json geojson
        application/gzip gz tgz
        application/java-archive jar war ear
        application/json json map
        application/jsonl jsonl ndjson
        application/ld+json jsonld
        application/mac-binhex40 hqx
        application/manifest+json webmanifest
        application/msword doc dot
        application/octet-stream bin so pkg img iso deb dmg msi exe dll
        application/ogg ogx
        application/pdf pdf
        application/pgp-encrypted pgp
        application/pgp-signature asc sig
        application/pkcs10 p10
        application/pkcs7-mime p7m p7c
        application/pkcs7-signature p7s
        application/pkcs8 p8
        application/pkix-cert cer
        application/pkix-crl crl
        application/postscript ps eps ai
        application/rss+xml rss
        application/rtf rtf
        application/sql sql
        application/toml toml
        application/vnd.android.package-archive apk
        application/vnd.apple.installer+xml mpkg
        application/vnd.apple.mpegurl m3u8
        application/vnd.google-earth.kml+xml kml
        application/vnd.google-earth.kmz kmz
        application/vnd.ms-excel xls xlt
        application/vnd.ms-fontobject eot
        application/vnd.ms-outlook msg
        application/vnd.ms-powerpoint ppt pps pot
        application/vnd.oasis.opendocument.graphics odg
        application/vnd.oasis.opendocument.presentation odp
        application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.text odt
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.rar rar
        application/vnd.sqlite3 sqlite sqlite3 db
        application/vnd.tcpdump.pcap pcap cap
        application/wasm wasm
        application/x-7z-compressed 7z
        application/x-apple-diskimage sparseimage
        application/x-bittorrent torrent
        application/x-bzip2 bz2 tbz2
        application/x-cpio cpio
        application/x-csh csh
        application/x-httpd-php php
        application/x-java-jnlp-file jnlp
        application/x-lz4 lz4
        application/x-ndjson ldjson
        application/x-perl pl pm
        application/x-pkcs12 p12 pfx
        application/x-plist plist
        application/x-redhat-package-manager rpm
        application/x-sh sh
        application/x-shockwave-flash swf
        application/x-tar tar
        application/x-tex tex
        application/x-x509-ca-cert der pem crt
        application/x-xz xz txz
        application/xhtml+xml xhtml xht
        application/xml xml xsd xsl rng
        application/xslt+xml xslt
        application/yaml yaml yml
        application/zip zip
        application/zstd zst
        audio/aac aac
        audio/amr amr
        audio/basic au snd
        audio/flac flac
        audio/midi mid midi
        audio/mp4 m4a
        audio/mpeg mp3 mp2 mpga
        audio/ogg ogg oga opus spx
        audio/vnd.wave wav
        audio/webm weba
        audio/x-aiff aif aiff aifc
        audio/x-matroska mka
        audio/x-ms-wma wma
        font/collection ttc
        font/otf otf
        font/ttf ttf
        font/woff woff
        font/woff2 woff2
        image/apng apng
        image/avif avif
        image/bmp bmp dib
        image/gif gif
        image/heic heic
        image/heif heif
        image/jp2 jp2
        image/jpeg jpg jpeg jpe jfif
        image/jxl jxl
        image/png png
        image/svg+xml svg svgz
        image/tiff tif tiff
        image/vnd.adobe.photoshop psd
        image/vnd.djvu djvu djv
        image/vnd.microsoft.icon ico cur
        image/webp webp
        image/x-portable-anymap pnm
        image/x-portable-bitmap pbm
        image/x-portable-graymap pgm
        image/x-portable-pixmap ppm
        image/x-tga tga
        image/x-xbitmap xbm
        message/rfc822 eml mht mhtml
        model/gltf+json gltf
        model/gltf-binary glb
        model/obj obj
        model/stl stl
        text/calendar ics ifb
        text/css css
        text/csv csv
        text/html html htm shtml
        text/javascript js mjs cjs
        text/markdown md markdown
        text/plain txt text log conf ini cfg
        text/rust rs
        text/tab-separated-values tsv
        text/vcard vcf vcard
        text/vtt vtt
        text/x-c c h
        text/x-c++ cc cpp cxx hh hpp
        text/x-diff diff patch
        text/x-go go
        text/x-java java
        text/x-kotlin kt
        text/x-python py
        text/x-ruby rb
        text/x-swift swift
        text/x-typescript tsx
        video/3gpp 3gp 3gpp
        video/3gpp2 3g2
        video/mp2t ts m2ts mts
        video/mp4 mp4 m4v mp4v
        video/mpeg mpeg mpg mpe
        video/ogg ogv
        video/quicktime mov qt
        video/webm webm
        video/x-flv flv
        video/x-matroska mkv
        video/x-ms-wmv wmv
        video/x-msvideo avi
        """
}
