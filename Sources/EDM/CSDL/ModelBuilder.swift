/// Builds the resolved model from the declarations of documents.
struct ModelBuilder {
    /// The main document, followed by the referenced ones.
    let documents: [MetadataDocument]
    let index: SchemaIndex

    func build() throws(CSDLError) -> EntityDataModel {
        guard let main = documents.first else {
            throw CSDLError(.notMetadata, "No metadata document was given.", line: 1, column: 1)
        }
        let annotations = try AnnotationIndex(index: index)
        let navigations = try NavigationTable(index: index)
        // Before the structured types, whose keys can have enumeration values.
        var enumerations: [[EnumerationType]] = []
        for source in index.sources { enumerations.append(try self.enumerations(of: source, annotations)) }
        let byName = Dictionary(
            enumerations.joined().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let types = try StructuredTypeBuilder(
            index: index, navigations: navigations, annotations: annotations, enumerations: byName
        ).build()

        let offered = offeredContainers()
        let containers = ContainerNames(
            index.sources.flatMap { $0.element.children("EntityContainer") }
                .filter { offered.contains(ObjectIdentifier($0)) }, isLegacy: main.version.isLegacy)
        var schemas: [Schema] = []
        for (position, source) in index.sources.enumerated() {
            schemas.append(
                try schema(
                    source, annotations.blocks[position], types, enumerations[position], navigations, annotations,
                    offered,
                    containers))
        }
        return EntityDataModel(
            version: main.version, schemas: schemas,
            structuredTypes: index.structuredTypes.compactMap { types[$0.name] },
            enumerationTypes: schemas.flatMap(\.enumerationTypes),
            entitySets: schemas.flatMap(\.containers).flatMap(\.entitySets),
            singletons: schemas.flatMap(\.containers).flatMap(\.singletons),
            references: try references(annotations),
            defects: index.omitted.defects(with: index.log, in: documents), hidesSets: index.omitted.hidesSets,
            elementCounts: ElementCounts(documents: documents, index: index))
    }

    private func schema(
        _ source: SchemaIndex.Source, _ blocks: [AnnotationsBlock], _ types: [String: StructuredType],
        _ enumerations: [EnumerationType], _ navigations: NavigationTable, _ annotations: AnnotationIndex,
        _ offered: Set<ObjectIdentifier>,
        _ names: ContainerNames
    ) throws(CSDLError) -> Schema {
        let structured = source.element.children.compactMap { element -> StructuredType? in
            guard element.isModel("EntityType") || element.isModel("ComplexType") else { return nil }
            return types["\(source.namespace).\(element["Name"] ?? "")"]
        }
        var containers: [EntityContainer] = []
        var seen: Set<String> = []
        for element in source.element.children("EntityContainer") where offered.contains(ObjectIdentifier(element)) {
            let reader = ContainerReader(
                element, in: source, index: index, navigations: navigations, annotations: annotations, types: types,
                containers: names)
            let container = try index.log.salvage(element) { () throws(CSDLError) in
                let container = try reader.read()
                guard seen.insert(container.name).inserted else {
                    throw CSDLError(
                        .duplicateName, "The container \"\(container.name)\" is declared twice.", at: element)
                }
                return container
            }
            if let container { containers.append(container) }
        }
        return Schema(
            namespace: source.namespace, alias: source.alias,
            entityTypes: structured.filter { $0.kind == .entity },
            complexTypes: structured.filter { $0.kind == .complex },
            enumerationTypes: enumerations,
            typeDefinitions: try definitions(of: source, annotations),
            associations: source.element.children("Association").compactMap {
                index.associations["\(source.namespace).\($0["Name"] ?? "")"]
            },
            actions: try operations(of: source, "Action", .action, annotations),
            functions: try operations(of: source, "Function", .function, annotations),
            terms: try terms(of: source, annotations),
            containers: containers, annotationsBlocks: blocks,
            annotations: try annotations.annotations(of: source.element))
    }

    /// Returns the containers of the first document and those that they extend. Other containers of referenced
    /// documents belong to other services.
    private func offeredContainers() -> Set<ObjectIdentifier> {
        var byName: [String: [MarkupElement]] = [:]
        var open: [MarkupElement] = []
        for source in index.sources {
            for element in source.element.children("EntityContainer") {
                byName["\(source.namespace).\(element["Name"] ?? "")", default: []].append(element)
                if element.origin.position == 0 { open.append(element) }
            }
        }
        var offered: Set<ObjectIdentifier> = []
        while let element = open.popLast() {
            guard offered.insert(ObjectIdentifier(element)).inserted, let base = element["Extends"] else { continue }
            open += byName[index.qualified(base.trimmed, at: element)] ?? []
        }
        return offered
    }

    private func enumerations(
        of source: SchemaIndex.Source, _ annotations: AnnotationIndex
    ) throws(CSDLError) -> [EnumerationType] {
        let reader = EnumerationReader(annotations: annotations)
        var result: [EnumerationType] = []
        for element in source.element.children("EnumType") {
            guard let declaration = index.types["\(source.namespace).\(element["Name"] ?? "")"] else { continue }
            let type = try index.log.salvage(element) { () throws(CSDLError) in try reader.read(declaration) }
            if let type { result.append(type) }
        }
        return result
    }

    private func definitions(
        of source: SchemaIndex.Source, _ annotations: AnnotationIndex
    ) throws(CSDLError) -> [TypeDefinition] {
        var result: [TypeDefinition] = []
        for element in source.element.children("TypeDefinition") {
            let name = "\(source.namespace).\(element["Name"] ?? "")"
            let definition = try index.log.salvage(element) { () throws(CSDLError) in
                TypeDefinition(
                    name: name, underlyingType: try index.underlyingType(of: element),
                    facets: try PropertyReader(index: index).facets(of: element),
                    annotations: try annotations.annotations(of: element, name))
            }
            if let definition { result.append(definition) }
        }
        return result
    }

    private func operations(
        of source: SchemaIndex.Source, _ name: String, _ kind: OperationKind, _ annotations: AnnotationIndex
    ) throws(CSDLError) -> [ServiceOperation] {
        let reader = OperationReader(index: index, annotations: annotations)
        var result: [(ServiceOperation, MarkupElement)] = []
        for element in source.element.children(name) {
            let operation = try index.log.salvage(element) { () throws(CSDLError) in
                try reader.operation(element, kind, name: "\(source.namespace).\(try element.declaredName())")
            }
            if let operation { result.append((operation, element)) }
        }
        try reader.checkOverloads(result)
        return result.map(\.0)
    }

    private func terms(of source: SchemaIndex.Source, _ annotations: AnnotationIndex) throws(CSDLError) -> [Term] {
        let properties = PropertyReader(index: index)
        var declared: [String: MarkupElement] = [:]
        var result: [Term] = []
        for element in source.element.children("Term") {
            let term = try index.log.salvage(element) { () throws(CSDLError) in
                let name = "\(source.namespace).\(try element.declaredName())"
                return Term(
                    name: name, type: try properties.type(of: element),
                    baseTerm: element["BaseTerm"].map { index.qualified($0.trimmed, at: element) },
                    isNullable: try properties.isNullable(element), facets: try properties.facets(of: element),
                    appliesTo: (element["AppliesTo"] ?? "").split(separator: " ").map(String.init),
                    annotations: try annotations.annotations(of: element, name))
            }
            guard let term else { continue }
            if let first = declared.updateValue(element, forKey: term.name) {
                try index.log.refuse(element, asAnother: first, "The term \"\(term.name)\" is declared twice.")
            }
            result.append(term)
        }
        return result
    }

    private func references(_ annotations: AnnotationIndex) throws(CSDLError) -> [DocumentReference] {
        var result: [DocumentReference] = []
        for element in documents.flatMap(\.references) {
            let reference = try index.log.salvage(element) { () throws(CSDLError) in
                try self.reference(element, annotations)
            }
            if let reference { result.append(reference) }
        }
        return result
    }

    private func reference(
        _ element: MarkupElement, _ annotations: AnnotationIndex
    ) throws(CSDLError) -> DocumentReference {
        let children = element.children.filter { $0.vocabulary == .edmx }
        var includes: [DocumentReference.Include] = []
        for include in children where include.name == "Include" {
            includes.append(
                DocumentReference.Include(
                    namespace: try include.required("Namespace"), alias: include["Alias"]))
        }
        var annotationIncludes: [DocumentReference.AnnotationInclude] = []
        for include in children where include.name == "IncludeAnnotations" {
            annotationIncludes.append(
                DocumentReference.AnnotationInclude(
                    termNamespace: try include.required("TermNamespace"), qualifier: include["Qualifier"],
                    targetNamespace: include["TargetNamespace"]))
        }
        // The attribute is named `Url` in V3.
        guard let uri = element["Uri"] ?? element["Url"] else {
            throw CSDLError(.missing, "The Reference has no attribute Uri.", at: element)
        }
        return DocumentReference(
            uri: uri, includes: includes, annotationIncludes: annotationIncludes,
            annotations: try annotations.annotations(of: element))
    }
}
