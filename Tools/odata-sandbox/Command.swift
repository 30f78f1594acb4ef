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
            "Something that the service lacks; may be repeated: batch, bind, patch, methods (all but GET and POST), references, references-in-bodies, bodies (of answers to creations), rollback (of refused change sets).",
            valueName: "ABILITY"))
    var without: [MissingCapability] = []

    @Option(
        help: "Which repeatable requests the service knows: oasis or sap. Without it, none.",
        transform: { text throws in
            guard let dialect = Repeatability.Dialect(rawValue: text) else {
                throw ValidationError("There are oasis and sap.")
            }
            return dialect
        })
    var repeatable: Repeatability.Dialect?

    @Option(
        help: ArgumentHelp("How long repeatable requests are remembered; for ever by default.", valueName: "SECONDS"))
    var remember: Int64?

    @Option(
        name: .customLong("async"),
        help: ArgumentHelp(
            "Answer with 202 where a client prefers respond-async, and be done after so many polls.",
            valueName: "POLLS"))
    var asynchronous: Int?

    @Option(
        help: "Tell what has changed since a query was answered, in this form: 4.0 or 4.01. Without it, never.",
        transform: { text throws in
            guard let form = DeltaForm(rawValue: text) else { throw ValidationError("There are 4.0 and 4.01.") }
            return form
        })
    var deltas: DeltaForm?

    @Option(help: ArgumentHelp("A file of faults in JSON, as POST /faults takes them.", valueName: "FILE"))
    var faults: String?

    @Flag(help: "Don't print a line for each request on standard error.")
    var quiet = false

    func validate() throws {
        if pageSize < 0 { throw ValidationError("--page-size must not be negative.") }
        if let remember, !(0...Self.longest).contains(remember) {
            throw ValidationError("--remember takes 0 to \(Self.longest) seconds.")
        }
        if let asynchronous, asynchronous < 0 { throw ValidationError("--async must not be negative.") }
    }

    func run() throws {
        let signals = StopSignals()
        var sandbox = try Sandbox.shop()
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
            throw Failure("Port \(port) cannot be opened on 127.0.0.1 (\(error)). Choose another, or 0 for a free one.")
        }
        print("V2 \(server.origin)/v2/\nV4 \(server.origin)/v4/")
        fflush(nil)
        signals.wait()
        server.stop()
    }

    /// A hundred years, in seconds.
    private static let longest: Int64 = 3_155_760_000

    private static func read(_ path: String) throws -> [Fault] {
        guard let file = fopen(path, "r") else { throw Failure("\(path) cannot be read.") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        do throws(FaultError) {
            return try Fault.list(bytes)
        } catch {
            throw Failure("\(path) holds no faults: \(error)")
        }
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
