/// Reads actions, functions and their imports.
struct OperationReader {
    let index: SchemaIndex
    let properties: PropertyReader
    let annotations: AnnotationReader

    init(index: SchemaIndex) {
        self.index = index
        properties = PropertyReader(index: index)
        annotations = AnnotationReader(index: index)
    }

    func operation(_ element: MarkupElement, _ kind: ServiceOperation.Kind, name: String) throws(CSDLError) -> ServiceOperation {
        let parameters = try self.parameters(of: element)
        let isBound = try element.boolean("IsBound", default: false)
        if isBound, parameters.isEmpty {
            throw CSDLError(
                .invalidOperation, "The \(element.label) is bound, but has no parameter to be called on.", at: element)
        }
        let returnType = try returnType(of: element)
        return ServiceOperation(
            kind: kind, name: name, isBound: isBound, isComposable: try element.boolean("IsComposable", default: false),
            parameters: parameters, returnType: returnType, entitySetPath: element["EntitySetPath"],
            annotations: try annotations.annotations(of: element))
    }

    func parameters(of element: MarkupElement) throws(CSDLError) -> [ServiceOperation.Parameter] {
        var result: [ServiceOperation.Parameter] = []
        var names: Set<String> = []
        for parameter in element.children("Parameter") {
            let name = try parameter.declaredName()
            if !names.insert(name).inserted {
                try index.tolerate(
                    .duplicateName, "The \(element.label) has two parameters \"\(name)\".", at: parameter)
            }
            result.append(
                ServiceOperation.Parameter(
                    name: name, type: try properties.type(of: parameter),
                    isNullable: try parameter.boolean("Nullable", default: true),
                    facets: try properties.facets(of: parameter),
                    annotations: try annotations.annotations(of: parameter)))
        }
        return result
    }

    /// V4 and V3 have an element for it, V2 an attribute.
    func returnType(of element: MarkupElement) throws(CSDLError) -> ServiceOperation.ReturnType? {
        if let child = element.firstChild("ReturnType") {
            let attribute = child["Type"] == nil && child["ReturnType"] != nil ? "ReturnType" : "Type"
            return ServiceOperation.ReturnType(
                type: try properties.type(of: child, attribute: attribute),
                isNullable: try child.boolean("Nullable", default: true), facets: try properties.facets(of: child))
        }
        guard let text = element["ReturnType"] else { return nil }
        return ServiceOperation.ReturnType(type: try index.type(text, at: element))
    }

    /// Overloads of one name must be told apart by what they are called with.
    func checkOverloads(_ operations: [(ServiceOperation, MarkupElement)]) throws(CSDLError) {
        var signatures: Set<[String]> = []
        for (operation, element) in operations {
            var signature = [operation.name, operation.isBound ? "bound" : ""]
            let types = operation.parameters.map { $0.type.isCollection ? "Collection(\($0.type.name))" : $0.type.name }
            switch operation.kind {
            case .action: signature += operation.isBound ? types.prefix(1) : []
            case .function: signature += types + operation.parameters.dropFirst(operation.isBound ? 1 : 0).map(\.name)
            }
            if !signatures.insert(signature).inserted {
                try index.tolerate(
                    .duplicateName, "The \(element.label) has an overload that cannot be told apart from this one.",
                    at: element)
            }
        }
    }
}
