/// Reads actions, functions and their imports.
struct OperationReader {
    let index: SchemaIndex
    let properties: PropertyReader
    let annotations: AnnotationIndex

    init(index: SchemaIndex, annotations: AnnotationIndex) {
        self.index = index
        self.annotations = annotations
        properties = PropertyReader(index: index)
    }

    func operation(_ element: MarkupElement, _ kind: OperationKind, name: String) throws(CSDLError)
        -> ServiceOperation
    {
        let parameters = try self.parameters(of: element, path: name)
        let isBound = try element.boolean("IsBound", default: false)
        if isBound, parameters.isEmpty {
            throw CSDLError(
                .invalidOperation, "The \(element.label) is bound, but has no binding parameter.", at: element)
        }
        let returnType = try returnType(of: element)
        return ServiceOperation(
            kind: kind, name: name, isBound: isBound, isComposable: try element.boolean("IsComposable", default: false),
            parameters: parameters, returnType: returnType, entitySetPath: element["EntitySetPath"],
            annotations: try annotations.annotations(of: element, name)
                + annotations.annotations(about: overload(name, kind, isBound, parameters)))
    }

    /// Returns the path by which annotations name an overload: with all parameter types of a function, or the binding
    /// type of an action.
    private func overload(
        _ name: String, _ kind: OperationKind, _ isBound: Bool, _ parameters: [ServiceOperation.Parameter]
    ) -> String {
        let telling = kind == .function ? parameters[...] : parameters.prefix(isBound ? 1 : 0)
        return "\(name)(\(telling.map { Self.text(of: $0.type) }.joined(separator: ",")))"
    }

    private static func text(of type: TypeReference) -> String {
        type.isCollection ? "Collection(\(type.name))" : type.name
    }

    /// Reads the parameters. `path` is the path of the operation or import, by which annotations name its parameters.
    func parameters(of element: MarkupElement, path: String) throws(CSDLError) -> [ServiceOperation.Parameter] {
        var result: [ServiceOperation.Parameter] = []
        var names: Set<String> = []
        for parameter in element.children("Parameter") {
            let name = try parameter.declaredName()
            if !names.insert(name).inserted {
                try index.log.tolerate(
                    .duplicateName, "The \(element.label) has two parameters \"\(name)\".", at: parameter)
            }
            let type = try properties.type(of: parameter)
            result.append(
                ServiceOperation.Parameter(
                    name: name, type: type, isNullable: try properties.isNullable(parameter, type),
                    facets: try properties.facets(of: parameter),
                    annotations: try annotations.annotations(of: parameter, "\(path)/\(name)")))
        }
        return result
    }

    /// Reads the return type, an element in V4 and V3 and an attribute in V2.
    func returnType(of element: MarkupElement) throws(CSDLError) -> ServiceOperation.ReturnType? {
        if let child = element.firstChild("ReturnType") {
            let attribute = child["Type"] == nil && child["ReturnType"] != nil ? "ReturnType" : "Type"
            let type = try properties.type(of: child, attribute: attribute)
            return ServiceOperation.ReturnType(
                type: type, isNullable: try properties.isNullable(child, type),
                facets: try properties.facets(of: child))
        }
        guard let text = element["ReturnType"] else { return nil }
        return ServiceOperation.ReturnType(type: try index.type(text, at: element))
    }

    /// Checks that overloads of one name differ in their signatures.
    func checkOverloads(_ operations: [(ServiceOperation, MarkupElement)]) throws(CSDLError) {
        var signatures: Set<[String]> = []
        for (operation, element) in operations {
            var signature = [operation.name, operation.isBound ? "bound" : ""]
            let types = operation.parameters.map { Self.text(of: $0.type) }
            switch operation.kind {
            case .action: signature += operation.isBound ? types.prefix(1) : []
            case .function: signature += types + operation.parameters.dropFirst(operation.isBound ? 1 : 0).map(\.name)
            }
            if !signatures.insert(signature).inserted {
                try index.log.tolerate(
                    .duplicateName, "The \(element.label) has an overload with the same parameter types.",
                    at: element)
            }
        }
    }
}
