package import EDM
import ODataQuery

extension EntityDataModel {
    /// Returns the function or action with the name and the given parameters.
    ///
    /// Among several overloads, selects the one with exactly these parameters, or otherwise the only one that has all
    /// of them and whose other parameters are nullable or optional.
    ///
    /// - Parameters:
    ///   - name: The name of an import, or the qualified or unqualified name of a bound operation.
    ///   - binding: The type that the operation is bound to, or nil for an import. The overload for the nearest base
    ///     type is selected.
    ///   - parameters: The names of the passed parameters, without the binding parameter.
    /// - Throws: An error if there is no such operation, or if the parameters match no overload or several.
    package func invokedOperation(
        _ name: String, on binding: TypeReference? = nil, parameters: [String]
    ) throws(InvocationError) -> InvokedOperation {
        if let twice = parameters.indices.first(where: { parameters[..<$0].contains(parameters[$0]) }) {
            throw InvocationError(.parameters, "The parameter \(parameters[twice]) of \(name) occurs twice.")
        }
        let candidates = if let binding { try bound(name, to: binding) } else { try imported(name) }
        return try OverloadResolution(name: name, candidates: candidates, given: Set(parameters)).result()
    }

    private func imported(_ name: String) throws(InvocationError) -> [InvokedOperation] {
        let imports = schemas.flatMap(\.containers).flatMap { $0.functionImports + $0.actionImports }
        let found = imports.filter { $0.name == name }
        guard !found.isEmpty else {
            let isDeclared = !operations(called: name, isLocalAllowed: true).isEmpty
            throw InvocationError(
                .unknownOperation,
                isDeclared
                    ? "\(name) has no function or action import, so it can only be called on an instance of its binding parameter."
                    : "The service has no function or action import \(name).")
        }
        let overloads = found.flatMap { item -> [InvokedOperation] in
            guard let operation = item.operation else { return [InvokedOperation(item, nil)] }
            return operations.filter { $0.name == operation && !$0.isBound && $0.kind == item.kind }
                .map { InvokedOperation(item, $0) }
        }
        guard !overloads.isEmpty else {
            throw InvocationError(
                .unknownOperation, "\(name) imports \(found[0].operation ?? name), which the metadata does not declare."
            )
        }
        return overloads
    }

    private func bound(_ name: String, to type: TypeReference) throws(InvocationError) -> [InvokedOperation] {
        guard !version.isLegacy else {
            throw InvocationError(
                .unsupported,
                "OData \(version.rawValue) has no bound functions and actions (MS-ODATA, section 2.2.7.5).")
        }
        let fitting = operations(called: name, isLocalAllowed: true).filter { operation in
            guard operation.isBound, let own = operation.parameters.first?.type else { return false }
            return own.isCollection == type.isCollection
                && (own.name == type.name || isType(type.name, derivedFrom: own.name))
        }
        let nearest = fitting.filter { operation in
            !fitting.contains { other in
                guard let mine = operation.parameters.first?.type.name, let its = other.parameters.first?.type.name
                else { return false }
                return mine != its && isType(its, derivedFrom: mine)
            }
        }
        guard !nearest.isEmpty else {
            let target = type.isCollection ? "a collection of \(type.name)" : type.name
            throw InvocationError(.unknownOperation, "No function or action \(name) is bound to \(target).")
        }
        return nearest.map(InvokedOperation.init)
    }
}

/// Overload resolution.
private struct OverloadResolution {
    let name: String
    let candidates: [InvokedOperation]
    let given: Set<String>

    func result() throws(InvocationError) -> InvokedOperation {
        if let exact = candidates.first(where: { Set($0.parameters.map(\.name)) == given }) { return exact }
        let sufficient = candidates.filter { unknown(in: $0).isEmpty && missing(in: $0).isEmpty }
        if sufficient.count == 1 { return sufficient[0] }
        guard candidates.count == 1 else {
            let names = given.sorted().joined(separator: ", ")
            let forms = candidates.map { "(\($0.parameters.map(\.name).joined(separator: ", ")))" }
            throw InvocationError(
                .parameters,
                sufficient.isEmpty
                    ? "\(name) has no overload with the parameters (\(names)), only \(forms.joined(separator: " and "))."
                    : "\(name) with the parameters (\(names)) is ambiguous: \(forms.joined(separator: " or ")).")
        }
        if let parameter = unknown(in: candidates[0]).first {
            throw InvocationError(.parameters, "\(name) has no parameter \(parameter).")
        }
        throw InvocationError(
            .parameters, "\(name) requires the parameter \(missing(in: candidates[0]).first ?? "").")
    }

    private func unknown(in operation: InvokedOperation) -> [String] {
        given.subtracting(operation.parameters.map(\.name)).sorted()
    }

    private func missing(in operation: InvokedOperation) -> [String] {
        operation.parameters.filter { !given.contains($0.name) && !$0.isOptional && !$0.isNullByDefault }.map(\.name)
    }
}
