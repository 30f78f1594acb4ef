internal import ArgumentParser
internal import Tidelog

struct PullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Read what the defining queries bring; pending changes stay on top.",
        discussion: """
            Where the service is busy it waits and goes on with the page that it was at, for half a minute in all or as long \
            as --wait says. Exits with 75 if the service is still busy then. What is wrong with one query keeps no other from \
            being read. Exits with 1 if entities came that could not be taken: see 'tidelog quarantine'.
            """,
        aliases: ["download"])

    @Argument(help: ArgumentHelp("The defining queries to run; all where none is named.", valueName: "name"))
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
