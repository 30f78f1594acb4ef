internal import ArgumentParser
internal import LogInspection
internal import OfflineStore
internal import OperationLog

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every byte of the log, and compare the views with it.",
        discussion: """
            Checks all checksums and their order, decompresses every block and decodes every record. Then it folds the \
            log again and compares the views in views.sqlite with the result. With --fast it does not decompress or \
            decode, and does not check the views. Needs no lock and changes nothing, unless --rebuild removes views \
            that are wrong and rebuilds them. Exits with 2 if the store is damaged; then see 'tidelog repair'. Streams \
            are checked by 'tidelog media verify'.
            """)

    @Flag(help: "Check only bytes and order, without decoding.")
    var fast = false

    @Flag(help: "Rebuild the views from the log if they are wrong.")
    var rebuild = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard !fast || !rebuild else {
            throw ValidationError("--rebuild requires a comparison of the views, which --fast omits.")
        }
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
        commandName: "stats", abstract: "Show the size of the log by segment and kind of record.",
        discussion: "Reads and checks every byte; needs no lock. Exits with 2 if a part cannot be read.")

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
        commandName: "segments", abstract: "List the files of the log: segments and snapshots.",
        discussion: """
            Checks every byte without decompressing; needs no lock. Exits with 2 if a file is damaged; then see \
            'tidelog verify'.

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
