// The ports of two programs, as docs/porting.md describes them: `PortedPrograms weather|photos URL PICTURE PATH`.

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 4 else { fatalError("pass 'weather' or 'photos', a URL, a picture, and a file or folder") }
switch arguments[0] {
case "weather":
    try await runWeatherStation(server: arguments[1], picture: arguments[2], archive: arguments[3])
default: try await runPhotoAlbum(server: arguments[1], picture: arguments[2], folder: arguments[3])
}
