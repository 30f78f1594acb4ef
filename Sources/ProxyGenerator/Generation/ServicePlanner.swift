internal import EDM

/// Plans the members of the service's class.
struct ServicePlanner {
    let model: EntityDataModel
    let options: ProxyOptions
    let names: TypeNames
    /// The class names of entity types without prefix and before collisions are resolved.
    let plain: [String: String]
    private let keys: [String: [ServicePlan.KeyPart]]
    private let typeNames: Set<String>
    private var scope: NameScope

    init(
        model: EntityDataModel, options: ProxyOptions, names: TypeNames, plain: [String: String],
        typeNames: Set<String>, entities: [ServicePlan.Entity]
    ) {
        self.model = model
        self.options = options
        self.names = names
        self.plain = plain
        keys = Dictionary(entities.map { ($0.type.name, $0.key) }, uniquingKeysWith: { first, _ in first })
        self.typeNames = typeNames
        scope = NameScope(reserved: ReservedNames.serviceMembers, alsoTaken: typeNames)
    }

    mutating func sets() -> [ServicePlan.Set] {
        let sets = model.entitySets.filter { names[$0.entityType.name] != nil && model.findEntitySet($0.name) === $0 }
        let setsOfType = Dictionary(grouping: sets, by: \.entityType.name)
        var lists: [(list: String, fetch: String)] = []
        for set in sets {
            lists.append(
                (scope.claim(SwiftName.ofMember(set.name)), scope.claim("fetch" + SwiftName.ofType(set.name))))
        }
        var result: [ServicePlan.Set] = []
        for (set, list) in zip(sets, lists) {
            let all = SwiftName.ofType(set.name)
            let ofType = setsOfType[set.entityType.name]?.count == 1 ? plain[set.entityType.name] : nil
            let one = ofType ?? SwiftName.singular(all)
            let key = key(of: set.entityType)
            var labels = NameScope(reserved: [])
            for part in key { _ = labels.claim(part.label) }
            result.append(
                ServicePlan.Set(
                    set: set, className: names[set.entityType.name] ?? "EntityValue", list: list.list,
                    fetchList: list.fetch,
                    fetchOne: scope.claim(one == all ? "fetchFirst" + all : "fetch" + one), key: key,
                    query: labels.claim("query")))
        }
        return result
    }

    /// Returns the key that a type declares or inherits.
    private func key(of type: EntityType) -> [ServicePlan.KeyPart] {
        ([type] + model.baseTypes(of: type)).lazy.compactMap { keys[$0.name] }.first { !$0.isEmpty } ?? []
    }

    mutating func singletons() -> [ServicePlan.Singleton] {
        var result: [ServicePlan.Singleton] = []
        for set in model.singletons where model.findEntitySet(set.name) === set {
            guard let name = names.entityClass(set.entityType.name) else { continue }
            result.append(
                ServicePlan.Singleton(
                    set: set, className: name, get: scope.claim(SwiftName.ofMember(set.name)),
                    fetch: scope.claim("fetch" + SwiftName.ofType(set.name))))
        }
        return result
    }

    // MARK: Operations

    /// Plans the operations: imports first, then bound operations, in document order. Overloads share a name and differ
    /// in their labels; if the signatures are equal, the name receives a number.
    mutating func operations() -> [ServicePlan.Operation] {
        var functions: [String: String] = [:]
        var signatures: Set<String> = []
        var result: [ServicePlan.Operation] = []
        for call in imports() + bound() {
            let wanted = SwiftName.ofMember(ServicePlan.local(call.name))
            let shared = functions[wanted] ?? scope.claim(wanted)
            functions[wanted] = shared
            let operation = operation(call, named: shared)
            if signatures.insert(signature(of: operation)).inserted {
                result.append(operation)
            } else {
                result.append(self.operation(call, named: scope.claim(shared)))
            }
        }
        return result
    }

    /// Returns the signature that distinguishes overloads in Swift.
    private func signature(of operation: ServicePlan.Operation) -> String {
        let first =
            switch operation.binding {
            case nil: ""
            case .entity(let type): "on \(type)"
            case .set, .other: "on"
            }
        let others = operation.parameters.map { parameter in
            let type = parameter.form == .value ? names.value(parameter.parameter.type, withoutAliases: true) : nil
            return "\(parameter.label):\(type ?? parameter.type)"
        }
        return "\(operation.name)(\(first),\(others.joined(separator: ",")))"
    }

    /// A function or action with the name for its invocation.
    private struct Call {
        let name: String
        let operation: ServiceOperation
    }

    private func imports() -> [Call] {
        var calls: [Call] = []
        let containers = model.schemas.flatMap(\.containers)
        let unbound = model.schemas.flatMap { $0.functions + $0.actions }.filter { !$0.isBound }
        let overloads = Dictionary(grouping: unbound, by: \.name)
        var names: Set<String> = []
        for declared in containers.flatMap({ $0.functionImports + $0.actionImports })
        where !declared.isBindable && names.insert(Self.identity(of: declared)).inserted {
            guard let target = declared.operation else {
                calls.append(
                    Call(
                        name: declared.name,
                        operation: ServiceOperation(
                            kind: declared.kind, name: declared.name, parameters: declared.parameters,
                            returnType: declared.returnType, annotations: declared.annotations)))
                continue
            }
            calls += (overloads[target] ?? []).filter { $0.kind == declared.kind }.map {
                Call(name: declared.name, operation: $0)
            }
        }
        return calls
    }

    /// Returns the identity of an import. V2 and V3 have overloads, which differ in their parameters.
    private static func identity(of declared: OperationImport) -> String {
        declared.operation == nil
            ? "\(declared.name)(\(declared.parameters.map(\.name).sorted().joined(separator: ",")))" : declared.name
    }

    private func bound() -> [Call] {
        model.schemas.flatMap { $0.functions + $0.actions }.filter(\.isBound).map { Call(name: $0.name, operation: $0) }
    }

    private func operation(_ call: Call, named name: String) -> ServicePlan.Operation {
        let operation = call.operation
        let parameters = operation.isBound ? operation.parameters.dropFirst() : operation.parameters[...]
        // The names that a function's body uses in addition to its parameters.
        var labels = NameScope(reserved: ["query", "binding", "self"], alsoTaken: typeNames)
        return ServicePlan.Operation(
            kind: operation.kind, invokedName: call.name, name: name,
            binding: operation.isBound ? operation.parameters.first.map { binding($0.type) } : nil,
            parameters: parameters.map { parameter in
                let entity = parameter.type.entityName.flatMap(names.entityClass)
                let list = parameter.type.isCollection
                return ServicePlan.Operation.Parameter(
                    parameter: parameter, label: labels.claim(SwiftName.ofMember(parameter.name)),
                    type: entity.map { list ? "[\($0)]" : $0 } ?? names.value(parameter.type) ?? "Value",
                    form: entity == nil ? .value : list ? .entities : .entity)
            }, result: result(operation.returnType), annotations: operation.annotations)
    }

    private func binding(_ type: TypeReference) -> ServicePlan.Operation.Binding {
        guard let name = type.entityName, let swift = names.entityClass(name) else { return .other }
        guard type.isCollection else { return .entity(swift) }
        let sets = model.entitySets.filter { model.isType(name, derivedFrom: $0.entityType.name) }
        guard sets.count == 1, let set = sets.first else { return .other }
        return .set(set.name, derived: set.entityType.name == name ? nil : name)
    }

    private func result(_ returned: ServiceOperation.ReturnType?) -> ServicePlan.Operation.Result {
        guard let returned else { return .nothing }
        // V2 and V3 do not specify whether a result may be null; it never is.
        let isOptional = returned.isNullable && !returned.type.isCollection && !model.version.isLegacy
        if let entity = returned.type.entityName.flatMap(names.entityClass) {
            return returned.type.isCollection ? .entities(entity) : .entity(entity, isOptional: isOptional)
        }
        return .value(names.value(returned.type) ?? "Value", isOptional: isOptional)
    }
}

extension TypeReference {
    /// The qualified name of an entity type; nil for other types.
    fileprivate var entityName: String? { if case .entity(let name) = kind { name } else { nil } }
}
