internal import ArgumentParser
internal import EDM
internal import ODataQuery
internal import ODataWire
internal import OfflineStore
internal import Operations
internal import Tidelog

struct ActionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action", abstract: "Queue the call of an action.",
        discussion: """
            The next push calls the action. --update and --delete declare the change of the entity that the store shows \
            until the service has answered.
            """)

    @Argument(
        help: ArgumentHelp(
            "The name of an action import, or the qualified or unqualified name of a bound action.", valueName: "name"))
    var name: String
    @Argument(
        help: ArgumentHelp(
            "The arguments as a JSON object, or - for standard input; an entity is the text of its link.",
            valueName: "json"))
    var arguments = "{}"
    @Option(
        name: .customLong("on"),
        help: ArgumentHelp("The entity or the entity set that the action is bound to.", valueName: "ref"))
    var reference: String?
    @Option(help: ArgumentHelp("The declared changes of the entity as a JSON object.", valueName: "json"))
    var update: String?
    @Flag(help: "Declare the deletion of the entity.")
    var delete = false
    @Flag(help: "A returned entity is the one that the action is bound to, even with another key.")
    var answersBound = false
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard !(delete && update != nil) else { throw ValidationError("Use either --update or --delete.") }
        guard reference != nil || !(delete || update != nil) else {
            throw ValidationError("Use --update and --delete together with --on.")
        }
    }

    func run() async throws {
        let given = try ObjectArgument(arguments).object
        let changes = try update.map { try ObjectArgument($0).object }
        try await options.withStore { provider in
            let service = DataService(provider: provider)
            let model = try await provider.model()
            let reader = ActionArgumentReader(service: service, model: model)
            let binding = try await reader.binding(reference)
            let call = try await service.queueAction(
                name, on: binding, try await reader.arguments(given, of: name, on: binding),
                effect: try effect(changes, binding, model), answer: answersBound ? .boundEntity : .byKey,
                options: transaction.requestOptions)
            let answer = OperationText(
                sequence: call.operation ?? 0, readLink: binding?.entity?.readLink ?? reference ?? name)
            try Console.print(answer.line(json: format.json))
        }
    }

    private func effect(
        _ changes: JSONObject?, _ binding: InvocationBinding?, _ model: EntityDataModel
    ) throws -> ActionEffect {
        guard delete || changes != nil else { return .none }
        guard let entity = binding?.entity else {
            throw CommandFailure(
                "A declared effect concerns one entity, and \(reference ?? name) is none.",
                recovery: "Bind the action to an entity, or declare no effect.")
        }
        guard let changes else { return .delete(entity) }
        let body = try EntityBodyReader(model: model).read(
            changes, type: entity.entityType, set: entity.entitySet?.name ?? entity.entityType.name)
        guard body.bindings.isEmpty, body.inline.isEmpty else {
            throw CommandFailure("A declared effect contains properties only, no links and no new entities.")
        }
        for (name, value) in body.values { entity[name] = value }
        return .update(entity)
    }
}

extension InvocationBinding {
    fileprivate var entity: EntityValue? { if case .entity(let entity) = self { entity } else { nil } }
}

extension TransactionOptions {
    fileprivate var requestOptions: RequestOptions {
        RequestOptions(
            customTag: tag, transactionID: transaction, unmodifiableRequest: unmodifiable,
            uploadCategory: category.map { .named($0) }, delivery: draft ? .draft : localOnly ? .localOnly : .queued)
    }
}

/// A reader for the binding and the arguments of an action that a user wrote, checked against the metadata.
private struct ActionArgumentReader {
    let service: DataService
    let model: EntityDataModel

    func binding(_ reference: String?) async throws -> InvocationBinding? {
        guard let reference else { return nil }
        if model.findEntitySet(reference) != nil { return .set(reference) }
        return .entity(try await entity(reference))
    }

    private func entity(_ reference: String) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL(reference)).requiredEntity()
    }

    func arguments(
        _ given: JSONObject, of name: String, on binding: InvocationBinding?
    ) async throws -> InvocationArguments {
        let operation: InvokedOperation
        do throws(InvocationError) {
            operation = try model.invokedOperation(name, on: type(of: binding), parameters: given.members.map(\.name))
        } catch {
            throw CommandFailure(error.message, recovery: "Compare the name and the arguments with 'tidelog metadata'.")
        }
        var pairs: [(name: String, argument: InvocationArgument)] = []
        for member in given.members {
            guard let parameter = operation.parameters.first(where: { $0.name == member.name }) else { continue }
            pairs.append((member.name, try await argument(member.value, parameter)))
        }
        return InvocationArguments(pairs)
    }

    private func type(of binding: InvocationBinding?) -> TypeReference? {
        switch binding {
        case .entity(let entity): TypeReference(.entity(name: entity.entityType.name))
        case .set(let name, _):
            model.findEntitySet(name).map {
                TypeReference(.entity(name: $0.entityType.name), isCollection: !$0.isSingleton)
            }
        case .property, nil: nil
        }
    }

    private func argument(_ json: JSONValue, _ parameter: ServiceOperation.Parameter) async throws -> InvocationArgument
    {
        if case .entity = parameter.type.kind {
            if let links = json.array {
                var entities: [EntityValue] = []
                for link in links { entities.append(try await entity(link.string ?? "")) }
                return .entities(entities)
            }
            return json == .null ? .null : .entity(try await entity(json.string ?? ""))
        }
        if parameter.type.isCollection, let items = json.array {
            return .value(Value.collection(try items.map { try value($0, parameter) }))
        }
        return .value(try value(json, parameter))
    }

    private func value(_ json: JSONValue, _ parameter: ServiceOperation.Parameter) throws -> Value {
        if json == .null { return .null }
        if case .enumeration = parameter.type.kind, let member = json.string { return .enumeration(member) }
        guard let primitive = parameter.type.primitive, json.object == nil, json.array == nil else {
            throw CommandFailure(
                "The parameter \(parameter.name) has the type \(parameter.type.name), which the command does not support.",
                recovery: "Queue the action with queueAction in an app.")
        }
        do throws(LiteralError) {
            return try PrimitiveLiteral.parse(
                json.string ?? json.text, as: primitive, facets: parameter.facets, version: .v4, form: .json)
        } catch {
            throw CommandFailure("The argument \(parameter.name) is not a value of \(primitive.rawValue): \(error)")
        }
    }
}
