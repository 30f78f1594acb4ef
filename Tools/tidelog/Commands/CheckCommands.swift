internal import ArgumentParser
internal import LogInspection
internal import OperationLog
internal import SyncEngine

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every byte of the log and check it, and compare the views with it.",
        discussion: """
            Checks all checksums and their order, decompresses every block and decodes every record. Then the log is folded \
            again, and the views in views.sqlite are compared with the outcome. With --fast nothing is decompressed or \
            decoded, and the views are not looked at. Needs no lock and changes nothing, unless --rebuild removes views that \
            are wrong, which are made again at once. Exits with 2 where something is damaged; see 'tidelog repair' then. \
            Streams are not read: 'tidelog media verify' does that.
            """)

    @Flag(help: "Check bytes and order only, not what they mean.")
    var fast = false

    @Flag(help: "Make the views again from the log if they are wrong.")
    var rebuild = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard !fast || !rebuild else { throw ValidationError("--rebuild compares the views, and --fast does not.") }
    }

    func run() async throws {
        let store = try options.inspected
        let verification = try mappingLogErrors {
            try ProgressLine.showing { try store.history.verify(depth: fast ? .fast : .deep, progress: $0) }
        }
        let files = store.files
        var views = verification.isSound && !fast ? try store.checkStoredViews() : nil
        if rebuild, views?.isWrong == true {
            try StoreRepair(files).removeViews()
            try await options.withStore { _ in }
            views = try store.checkStoredViews()
        }
        let text = VerificationText(
            verification, description: DescriptionCheck(files, keys: try .fromEnvironment()),
            hasStreams: files.hasStreams, views: views)
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        if !text.isSound { throw ReportedFailure(status: .damage) }
    }
}

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show where the log's bytes are, per segment and kind of record.",
        discussion: "Reads and checks every byte; needs no lock. Exits with 2 where something cannot be read.")

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let history = try options.history
        let statistics = try mappingLogErrors {
            try ProgressLine.showing { try history.statistics(progress: $0) }
        }
        let text = StatisticsText(statistics)
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        if statistics.damages > 0 { throw ReportedFailure(status: .damage) }
    }
}

struct SegmentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "segments", abstract: "Show the log's files: segments and snapshots, a line each.",
        discussion: """
            Checks every byte without decompressing; needs no lock. Exits with 2 where something is damaged: see 'tidelog \
            verify' then.

              tidelog segments --json
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let history = try options.history
        let files = try mappingLogErrors { try ProgressLine.showing { try history.files(progress: $0) } }
        let text = LogFilesText(files)
        for line in format.json ? text.json : text.lines { try Console.print(line) }
        if files.damages > 0 { throw ReportedFailure(status: .damage) }
    }
}

extension StoreOptions {
    /// The store, for commands that inspect it without opening it.
    var inspected: InspectedStore {
        get throws { try Self.inspected(store) }
    }

    /// Returns an inspected store. If it is damaged, the losses are reported on standard error.
    static func inspected(_ directory: String) throws -> InspectedStore {
        InspectedStore(directory: directory, keys: try .fromEnvironment()) { salvage in
            DamageNotice(salvage, log: StoreFiles(directory: directory).log).warn()
        }
    }

    /// The log, for commands that read nothing else.
    var history: LogHistory { get throws { try inspected.history } }
}

/// Runs `body`, and converts errors of the log to public errors.
func mappingLogErrors<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as LogError {
        throw TidelogError(error)
    }
}
