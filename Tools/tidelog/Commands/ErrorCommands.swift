internal import ArgumentParser
internal import OfflineStore
internal import Tidelog

struct ErrorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors", abstract: "List operations that were rejected, are in conflict or are in doubt.",
        discussion: """
            To correct an entity, change it and push: both changes are sent together. retry sends operations again \
            unchanged, discard undoes them, resolve resolves a conflict, settle sets the outcome of an operation in \
            doubt. The list is also an entity set: tidelog query ErrorArchive.
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let entries = try await provider.errorArchive()
            for entry in entries { try Console.print(ErrorText(entry: entry).text(json: format.json)) }
            if entries.isEmpty, !format.json { try Console.print("No errors.") }
        }
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Push, and of the rejected operations send only these again.",
        discussion: "push sends all rejected operations again.")

    @Argument(help: ArgumentHelp("The numbers of rejected operations.", valueName: "operation"))
    var operations: [UInt64]
    @OptionGroup var service: ServiceArguments
    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let end = try await access.withStore(options) { provider in
            try await service.apply(to: provider)
            return try await UploadText.printing(provider, json: format.json) { try await provider.retry(operations) }
        }
        if end != .done { throw ReportedFailure(status: end) }
    }
}

struct AmendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "amend", abstract: "Remove the parts of operations that do not fit the new metadata.",
        discussion: """
            For operations that errors lists as modelChanged: they contain values that the new metadata of the service \
            does not define. The next push sends the rest. To correct an operation that the service rejected, change \
            its entity instead.
            """)

    @Argument(help: ArgumentHelp("The numbers of operations.", valueName: "operation")) var operations: [UInt64]
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            try await provider.amendErrors(operations)
            try Console.print(
                "\(counted(Set(operations).count, "operation", "operations")) amended. Run 'tidelog push' to send the remaining parts."
            )
        }
    }
}

struct DiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Undo operations that were rejected or are in conflict.",
        discussion: """
            Operations that depend on them are undone too, and printed with the reason; all other operations \
            stay. redo restores them.
            """)

    @Argument(help: ArgumentHelp("The numbers of rejected operations.", valueName: "operation"))
    var operations: [UInt64] = []
    @Flag(help: "All operations that errors lists, except those in doubt.")
    var all = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard operations.isEmpty == all else { throw ValidationError("Use either numbers of operations or --all.") }
    }

    func run() async throws {
        try await options.withStore { provider in
            let report = try await all ? provider.discardAllErrors() : provider.discardErrors(operations)
            let reasons = Dictionary(uniqueKeysWithValues: report.dependants.map { ($0.operation, $0.reason) })
            for operation in try await provider.undoneOperations() where report.undone.contains(operation.sequence) {
                try Console.print(UndoText(operation, because: reasons[operation.sequence]).line(json: format.json))
            }
            if !format.json { try Console.print(UndoText.summary(report, isDryRun: false)) }
        }
    }
}

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release drafts, so that the next push sends them.",
        discussion: "--hold-back turns pending operations into drafts.")

    @Argument(help: ArgumentHelp("The numbers of operations.", valueName: "operation")) var operations: [UInt64]
    @Flag(help: "Do the opposite: keep the operations in the store until they are released.")
    var holdBack = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            let changed = try await holdBack ? provider.holdBack(operations) : provider.release(operations)
            let numbers = changed.isEmpty ? "" : ": " + changed.sorted().map(String.init).joined(separator: ", ")
            try Console.print(
                "\(counted(changed.count, "operation", "operations")) \(holdBack ? "held back" : "released")\(numbers)."
            )
        }
    }
}

/// An entry of the error archive as lines, or as a line of JSON.
struct ErrorText {
    let entry: ErrorArchiveEntry

    func text(json: Bool) -> String { json ? jsonLine : lines }

    private var lines: String {
        let state =
            switch entry.state {
            case .rejected: "rejected"
            case .inDoubt: "in doubt"
            case .conflict: "in conflict"
            }
        let tag = entry.customTag.map { " · tag '\(oneLine($0))'" } ?? ""
        let code = entry.code.isEmpty ? "" : " (\(oneLine(entry.code)))"
        let status = entry.httpStatusCode.map { "\($0) " } ?? ""
        return """
            \(entry.requestID)  \(verb) \(oneLine(entry.affectedEntity)) · \(state)\(tag)
                \(status)\(oneLine(entry.message))\(code)
                \(oneLine(entry.requestMethod)) \(oneLine(entry.requestURL))
            """
    }

    /// The verb that `tidelog status` uses.
    private var verb: String { OperationStatus.Action(rawValue: entry.action).map(StatusText.verb) ?? entry.action }

    private var jsonLine: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", entry.requestID)
        json.member("state", entry.state.rawValue)
        json.member("time", entry.time)
        json.member("action", entry.action)
        json.member("readLink", entry.affectedEntity)
        if let status = entry.httpStatusCode { json.member("status", status) }
        json.member("code", entry.code)
        json.member("message", entry.message)
        json.member("class", entry.errorClass.rawValue)
        if let inner = entry.innerError { json.member("innerError", inner) }
        if let tag = entry.customTag { json.member("customTag", tag) }
        json.name("request")
        json.beginObject()
        json.member("method", entry.requestMethod)
        json.member("url", entry.requestURL)
        if let body = entry.requestBody { json.member("body", body) }
        json.endObject()
        json.endObject()
        return json.text
    }
}
