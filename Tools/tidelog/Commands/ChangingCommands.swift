internal import ArgumentParser
internal import OfflineStore
internal import Operations
internal import Tidelog

/// A command that performs one operation and prints its response.
protocol ChangingCommand: AsyncParsableCommand {
    var options: StoreOptions { get }
    var format: FormatOptions { get }
    var transaction: TransactionOptions { get }
    func operation() throws -> OperationLine
}

extension ChangingCommand {
    func run() async throws {
        let operation = try operation()
        try await options.withStore { provider in
            var runner = try await OperationRunner(provider: provider, options: transaction.intentOptions)
            for answer in try await runner.run(operation) { try Console.print(answer.line(json: format.json)) }
        }
    }
}

struct CreateCommand: ChangingCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an entity.",
        discussion: """
            The JSON may contain new entities in navigation properties (deep insert). --bind links existing entities \
            in the same request; --in creates through a navigation property of another entity.
            """)

    @Argument(
        help: ArgumentHelp(
            "The entity set, or the path from an entity to contained entities: Customers(1)/Orders.", valueName: "set"))
    var set: String
    @Argument(help: ArgumentHelp("The properties as a JSON object, or - for standard input.", valueName: "json"))
    var value: String
    @Option(
        help: ArgumentHelp("Link an existing entity; may be repeated.", valueName: "NAV=REF"),
        transform: BindingArgument.init)
    var bind: [BindingArgument] = []
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("The parent entity and its navigation property.", valueName: "REF/NAV"),
        transform: ParentArgument.init)
    var parent: ParentArgument?
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() throws -> OperationLine {
        .create(
            set: set, value: try ObjectArgument(value).object, bindings: bind.map(\.binding), parent: parent?.parent,
            name: nil)
    }
}

struct UpdateCommand: ChangingCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change properties of an entity; all other properties stay unchanged.")

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "ref")) var reference: String
    @Argument(help: ArgumentHelp("The properties as a JSON object, or - for standard input.", valueName: "json"))
    var value =
        "{}"
    @Option(
        help: ArgumentHelp("Link an existing entity; may be repeated.", valueName: "NAV=REF"),
        transform: BindingArgument.init)
    var bind: [BindingArgument] = []
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() throws -> OperationLine {
        .update(entity: reference, value: try ObjectArgument(value).object, bindings: bind.map(\.binding))
    }
}

struct DeleteCommand: ChangingCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete an entity.")

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "ref")) var reference: String
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() -> OperationLine { .delete(entity: reference) }
}

struct LinkCommand: ChangingCommand {
    static let configuration = CommandConfiguration(commandName: "link", abstract: "Link two entities.")

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "from")) var from: String
    @Argument(help: ArgumentHelp("A navigation property of the entity.", valueName: "nav")) var property: String
    @Argument(help: ArgumentHelp("The entity to link.", valueName: "to")) var to: String
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() -> OperationLine { .link(from: from, property: property, to: to) }
}

struct RelinkCommand: ChangingCommand {
    static let configuration = CommandConfiguration(
        commandName: "relink", abstract: "Replace the entity that a single-valued navigation property links to.")

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "from")) var from: String
    @Argument(help: ArgumentHelp("A navigation property of the entity.", valueName: "nav")) var property: String
    @Argument(help: ArgumentHelp("The entity to link instead.", valueName: "to")) var to: String
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() -> OperationLine { .relink(from: from, property: property, to: to) }
}

struct UnlinkCommand: ChangingCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink", abstract: "Remove a link; both entities stay.")

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "from")) var from: String
    @Argument(help: ArgumentHelp("A navigation property of the entity.", valueName: "nav")) var property: String
    @Argument(help: ArgumentHelp("The other entity; not needed for a single-valued property.", valueName: "to"))
    var to: String?
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func operation() -> OperationLine { .unlink(from: from, property: property, to: to) }
}

// MARK: Arguments

/// The options of a changing command that determine when and how its operation is sent.
struct TransactionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send the operation in one change set with the pending operations of the same transaction.", valueName: "ID"
        ))
    var transaction: String?
    @Option(help: ArgumentHelp("A custom tag, which is returned with errors.", valueName: "text"))
    var tag: String?
    @Option(help: ArgumentHelp("A category by which a push can select the operation.", valueName: "name"))
    var category: String?
    @Flag(help: "Keep the operation in the store until it is released.")
    var draft = false
    @Flag(help: "Never send the operation.")
    var localOnly = false
    @Flag(help: "Send the operation unchanged, without coalescing.")
    var unmodifiable = false

    func validate() throws {
        guard !(draft && localOnly) else { throw ValidationError("Use either --draft or --local-only.") }
    }

    var intentOptions: IntentOptions {
        IntentOptions(
            customTag: tag, transactionID: transaction, isUnmodifiable: unmodifiable,
            uploadCategory: category.map(CategoryDraft.named),
            delivery: draft ? .draft : localOnly ? .localOnly : .queued)
    }
}

/// A JSON object as an argument, or on standard input if the argument is `-`.
struct ObjectArgument {
    let object: JSONObject

    init(_ text: String) throws {
        let bytes: [UInt8]
        if text == "-" {
            var reader = try LineReader(path: "-")
            bytes = try reader.rest()
        } else {
            bytes = Array(text.utf8)
        }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue.parse(bytes)
        } catch {
            throw CommandFailure("The value is not JSON: \(error)", recovery: "Write a JSON object in single quotes.")
        }
        guard let object = json.object else {
            throw CommandFailure("The value is \(json.kindName), not an object with properties.")
        }
        self.object = object
    }
}

/// An argument `NAV=REF`.
struct BindingArgument: Hashable {
    let binding: OperationLine.Binding

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ValidationError("'\(text)' does not have the form NAV=REF.")
        }
        binding = OperationLine.Binding(navigation: String(parts[0]), targets: [String(parts[1])])
    }
}

/// An argument `REF/NAV`.
struct ParentArgument: Hashable {
    let parent: OperationLine.Parent

    init(_ text: String) throws {
        guard let slash = text.lastIndex(of: "/"), slash != text.startIndex, text.index(after: slash) != text.endIndex
        else {
            throw ValidationError("'\(text)' does not have the form REF/NAV.")
        }
        parent = OperationLine.Parent(
            entity: String(Self.withoutCast(text[..<slash])), navigation: String(text[text.index(after: slash)...]))
    }

    /// Returns `People('ann')` for `People('ann')/Travel.Manager`. The cast is not needed, because the store contains
    /// the type.
    private static func withoutCast(_ entity: Substring) -> Substring {
        guard let slash = entity.lastIndex(of: "/") else { return entity }
        let last = entity[slash...]
        return last.contains(".") && !last.contains { "()'".contains($0) } ? entity[..<slash] : entity
    }
}
