internal import ArgumentParser
internal import ODataSandbox
internal import ODataWire

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The program `odata-sandbox`, which serves the Shop service on a loopback port until it is stopped.
@main
struct Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "odata-sandbox",
        abstract: "Runs an in-memory OData service of a small shop, in V2 and V4, or with your own metadata.",
        discussion: """
            Serves the same data under /v2/ and /v4/ on 127.0.0.1, prints both base URLs as its first two lines, and \
            runs until it is interrupted. Changes are not stored: every start begins with the same data, and so does \
            the service after POST /reset.

            With --metadata, the entity sets of the document are served, without entities at first. Only the \
            protocol version of the document is served, and only its base URL is printed.

            Examples:
              odata-sandbox --port 8080
              odata-sandbox --port 8080 --metadata Model.csdl --etags Orders
            """)

    @Option(
        help: ArgumentHelp(
            "A metadata document, V2 or V4, to serve instead of the shop, such as a copy of the $metadata of your service.",
            valueName: "FILE"))
    var metadata: String?

    @Option(
        help: ArgumentHelp(
            "With --metadata: an entity set whose entities have an ETag; may be repeated.", valueName: "SET"))
    var etags: [String] = []

    @Option(help: "The port to listen on; 0 selects a free port.")
    var port: UInt16 = 0

    @Option(help: "The number of entities on a page before the service sends a next link; 0 for no paging.")
    var pageSize: Int = 0

    @Option(
        help: ArgumentHelp(
            "A capability to remove from the service; may be repeated: batch, bind, patch, methods (all but GET and POST), references, references-in-bodies, bodies (of responses to creations), rollback (of refused change sets), json (V2 speaks only Atom).",
            valueName: "ABILITY"))
    var without: [MissingCapability] = []

    @Option(
        help: "The kind of repeatable requests that the service supports: oasis or sap. Without it, none.",
        transform: { text throws in
            guard let dialect = Repeatability.Dialect(rawValue: text) else {
                throw ValidationError("Use oasis or sap.")
            }
            return dialect
        })
    var repeatable: Repeatability.Dialect?

    @Option(
        help: ArgumentHelp(
            "The time in seconds for which repeatable requests are remembered; unlimited by default.",
            valueName: "SECONDS"))
    var remember: Int64?

    @Option(
        name: .customLong("async"),
        help: ArgumentHelp(
            "Respond with 202 if a client prefers respond-async, and complete the request after this number of polls.",
            valueName: "POLLS"))
    var asynchronous: Int?

    @Option(
        help: "Return delta links, in the format of this version: 4.0 or 4.01. Without it, none.",
        transform: { text throws in
            guard let form = DeltaForm(rawValue: text) else { throw ValidationError("Use 4.0 or 4.01.") }
            return form
        })
    var deltas: DeltaForm?

    @Option(help: ArgumentHelp("A file with faults in JSON, in the format of POST /faults.", valueName: "FILE"))
    var faults: String?

    @Flag(help: "Do not print a line for each request on standard error.")
    var quiet = false

    func validate() throws {
        if pageSize < 0 { throw ValidationError("--page-size must not be negative.") }
        if let remember, !(0...Self.longest).contains(remember) {
            throw ValidationError("--remember must be from 0 to \(Self.longest) seconds.")
        }
        if let asynchronous, asynchronous < 0 { throw ValidationError("--async must not be negative.") }
        if metadata == nil, !etags.isEmpty { throw ValidationError("--etags requires --metadata.") }
    }

    func run() throws {
        let signals = StopSignals()
        let model = try metadata.map { path in try ServedModel(path, etags: etags) }
        for warning in model?.warnings ?? [] { log("warning: \(warning)\n") }
        var sandbox = try model?.sandbox ?? Sandbox.shop()
        sandbox.options.pageSize = pageSize == 0 ? nil : pageSize
        for lack in without { lack.remove(from: &sandbox.options.capabilities) }
        sandbox.options.repeatability = repeatable.map { Repeatability($0, window: remember) }
        sandbox.options.asynchrony = asynchronous.map { Asynchrony(polls: $0, retryAfter: 0) }
        sandbox.options.deltas = deltas.map { Deltas($0) }
        if let faults { sandbox.faults = try Self.read(faults) }
        let server: Server
        do {
            server = try Server(sandbox: sandbox, port: Int(port), logsRequests: !quiet)
        } catch {
            throw Failure(
                "Port \(port) cannot be opened on 127.0.0.1 (\(error)). Choose another port, or 0 for a free one.")
        }
        if model?.isLegacy != false { print("V2 \(server.origin)/v2/") }
        if model?.isLegacy != true { print("V4 \(server.origin)/v4/") }
        fflush(nil)
        signals.wait()
        server.stop()
    }

    /// A hundred years, in seconds.
    private static let longest: Int64 = 3_155_760_000

    private static func read(_ path: String) throws -> [Fault] {
        let bytes = try InputFile.read(path)
        do throws(FaultError) {
            return try Fault.list(bytes)
        } catch {
            throw Failure("\(path) contains no valid faults: \(error)")
        }
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
