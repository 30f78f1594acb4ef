internal import ArgumentParser
internal import Tidelog

struct PullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Download the defining queries; pending changes are preserved.",
        discussion: """
            If the service is busy, it waits and continues with the current page, for half a minute in total or as \
            long as --wait specifies. Exits with 75 if the service is still busy then. An error of one query does not \
            prevent the others from being read. Exits with 1 if entities could not be accepted: see 'tidelog \
            quarantine'.
            """,
        aliases: ["download"])

    @Argument(help: ArgumentHelp("The names of the defining queries to download; all by default.", valueName: "name"))
    var names: [String] = []

    @OptionGroup var patience: RetryArguments
    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let parameters = try options.parameters
        try await access.withStore(options) { provider in
            let options = DownloadOptions(retry: patience.retry, ignoresPostponement: patience.now)
            let known = Set(try await provider.getDefiningQueries().map(\.name))
            let unknown = (parameters.configuration?.settings.keys.filter { !known.contains($0) } ?? []).sorted()
            var failure: TidelogError?
            var text: DownloadText
            do {
                let report = try await SyncProgressLine.showing(provider) {
                    try await provider.download(withSubset: names.isEmpty ? nil : names, options: options)
                }
                text = DownloadText(report)
            } catch let error as TidelogError {
                // Without a report, no download was started.
                guard let report = error.download else { throw error }
                failure = error
                text = DownloadText(report)
            }
            text.unknownSections = unknown
            for line in format.json ? [text.json] : text.lines { try Console.print(line) }
            guard let failure else {
                if text.isIncomplete { throw ReportedFailure(status: .failed) }
                return
            }
            for line in text.failures { Console.printError("tidelog: \(line)") }
            throw text.failures.isEmpty ? failure as any Error : ReportedFailure(status: ErrorReport(failure).status)
        }
    }
}
