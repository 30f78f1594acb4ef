/// Reads one entity container: sets with their bindings, singletons, imports.
struct ContainerReader {
    let index: SchemaIndex
    let navigations: NavigationTable
    let annotations: AnnotationIndex
    /// The resolved structured types by name.
    let types: [String: StructuredType]
    let source: SchemaIndex.Source
    let element: MarkupElement
    let isDefault: Bool
    /// The names of sets that also occur in other containers.
    private let sharedNames: Set<String>
    /// The container's own `EntitySet` elements by name.
    private let sets: [String: MarkupElement]

    init(
        _ element: MarkupElement, in source: SchemaIndex.Source, index: SchemaIndex, navigations: NavigationTable,
        annotations: AnnotationIndex, types: [String: StructuredType], containers: ContainerNames
    ) {
        isDefault = containers.isDefault(element)
        sharedNames = containers.sharedSets
        self.index = index
        self.navigations = navigations
        self.annotations = annotations
        self.types = types
        self.source = source
        self.element = element
        sets = Dictionary(
            element.children("EntitySet").map { ($0["Name"] ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    func read() throws(CSDLError) -> EntityContainer {
        let name = "\(source.namespace).\(try element.declaredName())"
        try checkNames()
        var associationSets: [AssociationSet] = []
        for child in element.children("AssociationSet") {
            let set = try index.log.salvage(child) { () throws(CSDLError) in try associationSet(child) }
            if let set { associationSets.append(set) }
        }
        let placements = Dictionary(
            grouping: associationSets.flatMap { set in set.ends.map { Placement(set: set, end: $0) } },
            by: \.end.entitySet)
        var sets: [EntitySet] = []
        for child in element.children("EntitySet") {
            let set = try index.log.salvage(child) { () throws(CSDLError) in
                try entitySet(child, "EntityType", container: name, placements)
            }
            if let set { sets.append(set) }
        }
        var singletons: [EntitySet] = []
        for child in element.children("Singleton") {
            let singleton = try index.log.salvage(child) { () throws(CSDLError) in
                try entitySet(child, "Type", container: name, [:])
            }
            if let singleton { singletons.append(singleton) }
        }
        return EntityContainer(
            name: name, extends: element["Extends"].map { index.qualified($0.trimmed, at: element) },
            isDefault: isDefault,
            entitySets: sets,
            singletons: singletons, actionImports: try imports("ActionImport", .action, container: name),
            functionImports: try imports("FunctionImport", .function, container: name),
            associationSets: associationSets, annotations: try annotations.annotations(of: element, name))
    }

    /// Checks that sets, singletons and imports have unique names. V2 and V3 allow overloads of function imports.
    private func checkNames() throws(CSDLError) {
        var seen: [String: MarkupElement] = [:]
        for child in element.children where child.vocabulary == .edm {
            switch child.name {
            case "EntitySet", "Singleton", "ActionImport": break
            case "FunctionImport" where child["Function"] != nil: break
            default: continue
            }
            let name = try index.log.salvage(child) { () throws(CSDLError) in try child.declaredName() }
            guard let name else { continue }
            guard let first = seen[name] else {
                seen[name] = child
                continue
            }
            try index.log.refuse(
                child, asAnother: first, "The container already has a \(first.label), in line \(first.line).")
        }
    }

    // MARK: Sets

    private func entitySet(
        _ child: MarkupElement, _ attribute: String, container: String, _ placements: [String: [Placement]]
    ) throws(CSDLError) -> EntitySet {
        let name = try child.declaredName()
        let type = try entityType(child, attribute)
        let own = try annotations.annotations(of: child, "\(container)/\(name)")
        return EntitySet(
            name: modelName(name), entityType: type, isSingleton: attribute == "Type",
            bindings: try bindings(child, type, placements[name] ?? []),
            alternateKeys: AlternateKeyReader(index: index).keys(own, of: type.name), annotations: own,
            segment: isDefault ? name : segment(name))
    }

    /// Returns the name of the container's own set in the model.
    private func modelName(_ name: String) -> String {
        isDefault || !sharedNames.contains(name) ? name : segment(name)
    }

    private func segment(_ name: String) -> String { "\(element["Name"] ?? "").\(name)" }

    /// Returns the entity type. A type of a document that was not read has no properties.
    private func entityType(_ child: MarkupElement, _ attribute: String) throws(CSDLError) -> EntityType {
        let reference = try index.type(try child.required(attribute), at: child)
        switch reference.kind {
        case .entity(let name) where !reference.isCollection, .unresolved(let name) where !reference.isCollection:
            return types[name] ?? StructuredType(kind: .entity, name: name, properties: [])
        default:
            throw CSDLError(
                .wrongKind, "The \(child.label) has the type \"\(reference.name)\", which is not an entity type.",
                at: child)
        }
    }

    // MARK: Bindings

    /// One end of an association set.
    private struct Placement {
        let set: AssociationSet
        let end: AssociationSet.End
    }

    private func bindings(
        _ child: MarkupElement, _ type: EntityType, _ placements: [Placement]
    ) throws(CSDLError) -> [String: String] {
        var result: [String: String] = [:]
        for binding in child.children("NavigationPropertyBinding") {
            let ends = try index.log.salvage(binding) { () throws(CSDLError) in
                (try binding.required("Path"), try binding.required("Target"))
            }
            guard let (path, target) = ends else { continue }
            let key = index.qualifiedPath(path, at: binding)
            guard result[key] == nil else {
                try index.log.tolerate(.duplicateName, "The \(child.label) binds \"\(path)\" twice.", at: binding)
                continue
            }
            result[key] = setName(target)
        }
        for placement in placements {
            guard let other = placement.set.ends.first(where: { $0.role != placement.end.role }) else { continue }
            let walks = navigations.walks(placement.set.association, from: placement.end.role)
            try index.spend(walks.count, at: child)
            for walk in walks where index.areCompatible(type.name, walk.owner) {
                let isInherited = index.isType(type.name, derivedFrom: walk.owner) == true
                let path = isInherited ? walk.name : "\(walk.owner)/\(walk.name)"
                if result[path] == nil { result[path] = modelName(other.entitySet) }
            }
        }
        return result
    }

    /// Returns the name of the set, without a container of this document. The path to contained entities may have type
    /// casts (CSDL 4.01, 13.4.2).
    private func setName(_ target: String) -> String {
        let path = index.qualifiedPath(target.trimmed, at: element)
        let parts = path.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, parts[0].contains(".") else { return path }
        return index.isOwn(String(parts[0]), at: element) ? String(parts[1]) : String(target.trimmed)
    }

    private func associationSet(_ child: MarkupElement) throws(CSDLError) -> AssociationSet {
        let name = try child.declaredName()
        let qualified = index.qualified(try child.required("Association").trimmed, at: child)
        let association = index.associations[qualified]
        if association == nil, index.isOwn(qualified, at: child) {
            throw index.unresolved("association", qualified, at: child)
        }
        guard child.children("End").count <= 2 else {
            throw CSDLError(.invalidAssociation, "The \(child.label) has more than two ends.", at: child)
        }
        var ends: [AssociationSet.End] = []
        for end in child.children("End") {
            let set = try end.required("EntitySet")
            let role = try role(of: set, in: association, at: end)
            try check(role: role, set: set, association, at: end)
            ends.append(AssociationSet.End(role: role, entitySet: set))
        }
        return AssociationSet(
            name: name, association: qualified, ends: ends, annotations: try annotations.annotations(of: child))
    }

    private func check(
        role: String, set: String, _ association: Association?, at end: MarkupElement
    ) throws(CSDLError) {
        guard let declared = sets[set] else {
            throw CSDLError(.unknownEntitySet, "The container has no entity set \"\(set)\".", at: end)
        }
        guard let association else { return }
        guard let associationEnd = association.end(role) else {
            throw CSDLError(
                .invalidAssociation, "The role \"\(role)\" is not a role of \"\(association.name)\".", at: end)
        }
        let type = try index.type(try declared.required("EntityType"), at: declared).name
        guard index.areCompatible(type, associationEnd.type) else {
            throw CSDLError(
                .invalidAssociation,
                "The entity set \"\(set)\" has the type \"\(type)\", but the role \"\(role)\" has \"\(associationEnd.type)\".",
                at: end)
        }
    }

    /// Returns the role of an end. It can be omitted if the type of the set identifies the end.
    private func role(
        of set: String, in association: Association?, at end: MarkupElement
    ) throws(CSDLError) -> String {
        if let role = end["Role"] { return role }
        if let association, let text = sets[set]?["EntityType"] {
            let type = index.qualified(text.trimmed, at: end)
            let matching = [association.first, association.second].filter { index.areCompatible(type, $0.type) }
            if matching.count == 1 { return matching[0].role }
        }
        throw CSDLError(.missing, "The End has no attribute Role, and its type does not determine the role.", at: end)
    }

    // MARK: Imports

    private func imports(
        _ name: String, _ kind: OperationKind, container: String
    ) throws(CSDLError) -> [OperationImport] {
        let reader = OperationReader(index: index, annotations: annotations)
        var result: [OperationImport] = []
        for child in element.children(name) {
            let found = try index.log.salvage(child) { () throws(CSDLError) in
                try operationImport(child, kind, container: container, reader)
            }
            if let found { result.append(found) }
        }
        return result
    }

    private func operationImport(
        _ child: MarkupElement, _ kind: OperationKind, container: String, _ reader: OperationReader
    ) throws(CSDLError) -> OperationImport {
        let importName = try child.declaredName()
        let operation = child[kind == .action ? "Action" : "Function"].map {
            index.qualified($0.trimmed, at: child)
        }
        if operation == nil, source.element.namespace == MarkupNamespace.edm, child["ReturnType"] == nil,
            child.firstChild("Parameter") == nil
        {
            try index.log.tolerate(
                .missing, "The \(child.label) does not name the operation that it imports.", at: child)
        }
        if let operation, index.isOwn(operation, at: child), !index.operations.contains(operation) {
            throw index.unresolved(
                kind == .action ? "action" : "function", operation, at: child, of: "the \(child.label)")
        }
        return OperationImport(
            kind: kind, name: importName, operation: operation,
            entitySet: child["EntitySet"].map { modelName(setName($0)) },
            parameters: try reader.parameters(of: child, path: "\(container)/\(importName)"),
            returnType: try reader.returnType(of: child),
            httpMethod: child.anyAttribute("HttpMethod"),
            isBindable: child["IsBindable"].flatMap { Bool(csdl: $0) } ?? false,
            annotations: try annotations.annotations(of: child, "\(container)/\(importName)"))
    }
}
