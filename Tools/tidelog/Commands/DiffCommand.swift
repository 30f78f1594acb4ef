internal import ArgumentParser
internal import EDM
internal import LogInspection
internal import ODataQuery
internal import OfflineStore
internal import Operations
internal import Tidelog

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the differences between two states: entities, properties and links.",
        discussion: """
            A side is a place in the history of the store (12, or a time), 'now', another store (its directory, or \
            directory@12), or 'live': the current results of the defining queries at the service. Pending changes are \
            included. + marks items of the second side only, - items of the first side only, ~ items of both that \
            differ.

                tidelog diff 8 now
                tidelog diff 2026-11-21T07:43:17Z now Customers
                tidelog diff . ../copy 'Orders(5)'
                tidelog diff now live

            Exit codes: 0 equal, 1 different, 2 damage, 64 usage, 70 failure, 75 the service is busy.
            """)

    @Argument(help: ArgumentHelp("The first side.", valueName: "a"))
    var first: DiffSide

    @Argument(help: ArgumentHelp("The second side.", valueName: "b"))
    var second: DiffSide

    @Argument(help: ArgumentHelp("Compare only this entity or entity set.", valueName: "ref|set"))
    var scope: String?

    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let counts: DifferenceCounts
        do {
            counts = try await compare()
        } catch let error as TidelogError where ExitStatus(error.code) == .failed {
            Console.printError("tidelog: \(ErrorReport(error).line ?? "")")
            throw ReportedFailure(status: .notCompared)
        } catch let error as CommandFailure {
            Console.printError("tidelog: \(ErrorReport(error).line ?? "")")
            throw ReportedFailure(status: .notCompared)
        }
        if !format.json { try Console.print(summary(counts)) }
        if counts.differences > 0 { throw ReportedFailure(status: .failed) }
    }

    private func compare() async throws -> DifferenceCounts {
        let scope = scope.map(DifferenceScope.init) ?? .everything
        var output = DifferenceOutput(isJSON: format.json)
        let counts: DifferenceCounts
        switch (first, second) {
        case (.live, .live):
            throw CommandFailure("Both sides are 'live'.", recovery: "Use a place of the store for one side.")
        case (.live, let side), (let side, .live):
            let past = try await side.past(options)
            let service = try await LiveService(past, side.directory(options), access)
            let difference = LiveDifference(store: past, service: service, storeIsFirst: second == .live)
            counts = try await difference.run(scope) { found throws(TidelogError) in output.print(found) }
        default:
            let (before, after) = (try await first.past(options), try await second.past(options))
            let difference = StateDifference(before: before, after: after, matching: try matching)
            counts = try await difference.run(scope) { found throws(TidelogError) in output.print(found) }
        }
        try output.end()
        return counts
    }

    private var matching: StateDifference.Matching {
        get throws {
            let (one, other) = (try first.inspected(options), try second.inspected(options))
            if one.files == other.files { return .entityIDs }
            return try one.identifier == other.identifier ? .keysAndLocalIDs : .keys
        }
    }

    private func summary(_ counts: DifferenceCounts) -> String {
        guard counts.differences > 0 else {
            return "No difference in \(counted(counts.compared, "entity", "entities"))."
        }
        return "\(counts.added) added, \(counts.removed) removed, \(counts.changed) changed, of "
            + "\(counted(counts.compared, "entity", "entities"))."
    }
}

/// A side of a comparison, as an argument.
enum DiffSide: ExpressibleByArgument, Equatable {
    case live
    case place(PointInTime)
    case store(directory: String, PointInTime)

    init?(argument: String) {
        if argument == "live" {
            self = .live
        } else if argument == "now" {
            self = .place(.sequence(.max))
        } else if let point = PointArgument(argument: argument) {
            self = .place(point.point)
        } else if let at = argument.lastIndex(of: "@"),
            let point = PointArgument(argument: String(argument[argument.index(after: at)...]))
        {
            self = .store(directory: String(argument[..<at]), point.point)
        } else if !argument.isEmpty {
            self = .store(directory: argument, .sequence(.max))
        } else {
            return nil
        }
    }

    /// Returns the store as of this side.
    func past(_ options: StoreOptions) async throws -> HistoricalStore {
        switch self {
        case .live: throw CommandFailure("'live' is not a store.")
        case .place(let point): return try await options.inspected.past(at: point)
        case .store(_, let point): return try await inspected(options).past(at: point)
        }
    }

    /// Returns the directory of the store.
    func directory(_ options: StoreOptions) -> String {
        if case .store(let directory, _) = self { directory } else { options.store }
    }

    func inspected(_ options: StoreOptions) throws -> InspectedStore {
        guard case .store(let directory, _) = self else { return try options.inspected }
        return try StoreOptions.inspected(directory)
    }
}

/// The service of a store, with the credentials of the environment.
struct LiveService: LiveServiceReader {
    private let provider: OnlineODataProvider

    init(_ past: HistoricalStore, _ directory: String, _ access: ServiceAccess) async throws {
        guard let root = try await past.serviceRoot else {
            throw CommandFailure("The store does not belong to a service yet.", recovery: "Run 'tidelog init'.")
        }
        let credentials = try EnvironmentCredentials().credentials(
            forStore: directory, root: root, named: access.origin)
        provider = OnlineODataProvider(
            serviceRoot: root, credentials: credentials, limits: access.limit.limits)
    }

    func page(_ url: String) async throws(TidelogError) -> QueryAnswer {
        try await provider.query(.url(url), headers: .empty)
    }
}

/// An output that prints differences as they are found.
struct DifferenceOutput {
    let isJSON: Bool
    private var failure: (any Error)?

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Prints a difference. An error is stored until ``end()``.
    mutating func print(_ difference: EntityDifference) {
        guard failure == nil else { return }
        do {
            let text = DifferenceText(difference)
            for line in isJSON ? [text.json] : text.lines { try Console.print(line) }
        } catch {
            failure = error
        }
    }

    func end() throws { if let failure { throw failure } }
}

/// A difference as lines or as JSON.
struct DifferenceText {
    private let difference: EntityDifference
    private let values = ValueJSONWriter(version: .v4, model: nil)

    init(_ difference: EntityDifference) { self.difference = difference }

    var lines: [String] {
        let name = oneLine(difference.name)
        let title =
            switch difference.change {
            case .added: TextColor.good("+ \(name)")
            case .removed: TextColor.bad("- \(name)")
            case .changed: "~ \(name)"
            }
        var lines = [title]
        for property in difference.properties {
            let (before, after) = (property.before.map(text), property.after.map(text))
            switch (before, after) {
            case (let before?, let after?): lines.append("    ~ \(oneLine(property.name)): \(before) → \(after)")
            case (let before?, nil): lines.append(TextColor.bad("    - \(oneLine(property.name)): \(before)"))
            case (nil, let after?): lines.append(TextColor.good("    + \(oneLine(property.name)): \(after)"))
            case (nil, nil): break
            }
        }
        for link in difference.links {
            let text = "\(oneLine(link.navigation)) → \(oneLine(link.target))"
            lines.append(link.isAdded ? TextColor.good("    + \(text)") : TextColor.bad("    - \(text)"))
        }
        return lines
    }

    private func text(_ value: Value) -> String {
        oneLine(PrimitiveLiteral.format(value, version: .v4, form: .url))
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("change", difference.change.rawValue)
        json.member("set", difference.set)
        json.member("entity", difference.name)
        if let id = difference.entity, id.rawValue > 0 { json.member("entityID", id.rawValue) }
        json.name("properties")
        json.beginArray()
        for property in difference.properties {
            json.beginObject()
            json.member("name", property.name)
            for (name, value) in [("before", property.before), ("after", property.after)] {
                guard let value else { continue }
                json.name(name)
                values.write(value, as: property.type, to: &json)
            }
            json.endObject()
        }
        json.endArray()
        json.name("links")
        json.beginArray()
        for link in difference.links {
            json.beginObject()
            json.member("change", link.isAdded ? "added" : "removed")
            json.member("navigation", link.navigation)
            json.member("target", link.target)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.text
    }
}
