internal import ArgumentParser
internal import ODataWire
internal import Operations
internal import SyncEngine
internal import Tidelog

struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Read entities from the store.",
        discussion: """
            Takes what a URL may say: an entity set, an entity or a navigation property, with $filter, $select, $orderby, \
            $top, $skip, $count and $expand. Reads the store only, pending changes included.
            """)

    @Argument(help: ArgumentHelp("For example 'Customers?$filter=Rating gt 3&$expand=Orders'.", valueName: "url"))
    var url: String

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let answer = try await provider.query(.url(url), headers: .empty)
            let known = try await provider.model()
            let isQueue = answer.entities.first.map { known.findEntityType($0.type) == nil } ?? false
            let model = isQueue ? OfflineODataProvider.queueModel : known
            let path = url.prefix { $0 != "?" }
            if path.hasSuffix("/$count"), let count = answer.count { return try Console.print(String(count)) }
            // A navigation property may lead nowhere; a key may not.
            if answer.isSingle, answer.entities.isEmpty, path.hasSuffix(")") {
                throw CommandFailure("\(path) is not in the store.", recovery: "Download it first, or check the key.")
            }
            if format.json {
                let json = EntityJSON(model: model)
                for entity in answer.entities { try Console.print(json.line(entity)) }
            } else {
                for line in EntityTable(answer, model: model).lines { try Console.print(line) }
            }
        }
    }
}

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show which key the service gave to which entity ID.")

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
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
