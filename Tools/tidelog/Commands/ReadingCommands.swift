internal import ArgumentParser
internal import ODataWire
internal import OfflineStore
internal import Operations
internal import Tidelog

struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Read entities from the store.",
        discussion: """
            Accepts the paths and options of an OData URL: a set, an entity, a property, $count, $value, $ref or \
            $links, with $filter, $search, $orderby, $select, $expand, $compute, $apply, $top, $skip and $count. Reads \
            only the store, including pending changes.
            """)

    @Argument(help: ArgumentHelp("For example 'Customers?$filter=Rating gt 3&$expand=Orders'.", valueName: "url"))
    var url: String

    @Option(
        help: ArgumentHelp(
            "Print at most this number of entities, and the query for the next page.", valueName: "count"))
    var pageSize: Int?

    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withView(point) { provider in
            var headers = HTTPHeaders.empty
            if let pageSize { headers["Prefer"] = "odata.maxpagesize=\(pageSize)" }
            let answer = try await provider.query(.url(url), headers: headers)
            let known = try await provider.model()
            let isQueue = answer.entities.first.map { known.findEntityType($0.type) == nil } ?? false
            let model = isQueue ? OfflineODataProvider.queueModel : known
            let path = url.prefix { $0 != "?" }
            switch answer.form {
            case .count: return try Console.print(String(answer.count ?? 0))
            case .value(let value, let type): return try Console.print(ValueText.json(value, type, model))
            case .rawValue(let value): return try Console.print(ValueText.raw(value))
            case .references:
                for entity in answer.entities {
                    let link = entity.readLink
                    try Console.print(format.json ? #"{"@readLink":\#(ValueText.quoted(link))}"# : link)
                }
                return try printNextLink(of: answer)
            case .entities, .joined: break
            }
            // A navigation property may have no target, but a key has to exist.
            if answer.isSingle, answer.entities.isEmpty, path.hasSuffix(")") {
                throw CommandFailure(
                    "\(path) is not in the store.", recovery: "Download the entity first, or check the key.")
            }
            if format.json {
                let json = EntityJSON(model: model)
                for entity in answer.entities { try Console.print(json.line(entity)) }
            } else {
                for line in EntityTable(answer, model: model).lines { try Console.print(line) }
            }
            try printNextLink(of: answer)
        }
    }

    private func printNextLink(of answer: QueryAnswer) throws {
        guard let next = answer.nextLink else { return }
        try Console.print(format.json ? #"{"@nextLink":\#(ValueText.quoted(next))}"# : "Next page: \(next)")
    }
}

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys with the entity IDs to which they belong.")

    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withView(point) { provider in
            let keys = try await provider.keyMap()
            if format.json {
                for assignment in keys {
                    var json = JSONWriter()
                    json.beginObject()
                    json.member("entityID", assignment.entity.rawValue)
                    json.member("set", assignment.set)
                    json.member("key", assignment.key)
                    json.endObject()
                    try Console.print(json.text)
                }
                return
            }
            var table = TextTable([("entity", .left), ("key", .left)])
            for assignment in keys {
                table.add(["\(assignment.set)(\(assignment.entity))", "\(assignment.set)(\(assignment.key))"])
            }
            for line in table.lines { try Console.print(line) }
        }
    }
}
