internal import ArgumentParser
internal import ODataSandbox

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// `odata-sandbox`: the Shop service on a loopback port until it is stopped.
@main
struct Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "odata-sandbox",
        abstract: "An in-memory OData service over a small shop, V2 and V4 at once.",
        discussion: """
            Serves the same data under /v2/ and /v4/ on 127.0.0.1, prints both base URLs as its first two lines, and \
            runs until it is interrupted. Nothing is kept: every start begins with the same data.
            """)

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port: UInt16 = 0

    @Option(help: "How many entities a page holds before the service sends a next link; 0 for no paging.")
    var pageSize: Int = 0

    @Option(
        help: ArgumentHelp(
            "Something that the service lacks; may be repeated: batch, bind, patch, methods (all but GET and POST), references, references-in-bodies, bodies (of answers to creations).",
            valueName: "ABILITY"))
    var without: [Lack] = []

    @Flag(help: "Don't print a line for each request on standard error.")
    var quiet = false

    func validate() throws {
        if pageSize < 0 { throw ValidationError("--page-size must not be negative.") }
    }

    func run() throws {
        let signals = StopSignals()
        var sandbox = try Sandbox.shop()
        sandbox.options.pageSize = pageSize == 0 ? nil : pageSize
        for lack in without { lack.take(from: &sandbox.options.abilities) }
        let server: Server
        do {
            server = try Server(sandbox: sandbox, port: Int(port), logsRequests: !quiet)
        } catch {
            throw Failure("Port \(port) cannot be opened on 127.0.0.1 (\(error)). Choose another, or 0 for a free one.")
        }
        print("V2 \(server.origin)/v2/\nV4 \(server.origin)/v4/")
        fflush(nil)
        signals.wait()
        server.stop()
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
