internal import EDM
package import ODataQuery

extension RequestEncoder {
    /// Returns the request that calls a function or action (OData 4.01 Part 1, section 11.5).
    ///
    /// In V4 the arguments of a function are in parentheses. Arguments that a path cannot contain (complex values,
    /// collections, entities, long texts and texts with slashes) use parameter aliases in the query. The arguments of
    /// an action are in the body. In V2 and V3 all arguments are query options.
    ///
    /// - Throws: An error if the version cannot represent the query options.
    package func encode(_ invocation: OperationInvocation) throws(URLSyntaxError) -> WireRequest {
        var request = call(invocation, query: try invocation.options.print(version: version))
        if self.options.tunnelsMethods, request.method != "GET", request.method != "POST" {
            request.headers["X-HTTP-Method"] = request.method
            request.method = "POST"
        }
        if let ifMatch = invocation.ifMatch { request.headers["If-Match"] = ifMatch }
        request.headers.merge(invocation.headers)
        return request
    }

    /// Returns the request that calls a function or action, without the headers of the invocation.
    ///
    /// - Parameter query: The query options for the result.
    func call(_ invocation: OperationInvocation, query printed: String = "") -> WireRequest {
        let operation = invocation.operation
        var request = WireRequest(method: operation.method, url: "", headers: headers)
        var query: [String] = []
        switch (operation.kind, version.isLegacy) {
        case (_, true):
            request.url = urls.encode(operation.name)
            query = options(of: invocation)
        case (.function, false):
            let arguments = arguments(of: invocation, aliases: &query)
            request.url = EntityURLWriter.appending(arguments, to: path(of: invocation))
        case (.action, false):
            request.url = path(of: invocation)
            if !invocation.arguments.isEmpty {
                request.headers["Content-Type"] = headers["Accept"]
                request.body = body(of: invocation)
            }
        }
        if !printed.isEmpty { query.append(printed) }
        if !query.isEmpty { request.url = EntityURLWriter.adding(query.joined(separator: "&"), to: request.url) }
        return request
    }

    // MARK: URLs

    /// Returns the path up to the operation's name.
    private func path(of invocation: OperationInvocation) -> String {
        guard let binding = invocation.binding else { return urls.encode(invocation.operation.name) }
        var path =
            switch binding.resource {
            case .entity(let reference): url(of: reference)
            case .set(let set): urls.encode(set.segment)
            }
        if let property = binding.property {
            path = EntityURLWriter.appending("/" + urls.encode(property.name), to: path)
        }
        if let cast = binding.cast { path = urls.casting(path, to: cast) }
        return EntityURLWriter.appending("/" + urls.encode(invocation.operation.name), to: path)
    }

    /// The maximum length of a literal in the path. Longer ones use an alias, because servers limit the length of a
    /// path segment more than that of a query.
    private static let longestInPath = 200

    private func arguments(of invocation: OperationInvocation, aliases: inout [String]) -> String {
        var texts: [String] = []
        for parameter in invocation.operation.parameters {
            let argument = invocation.arguments.first { $0.name == parameter.name }
            guard argument != nil || !parameter.isOptional else { continue }
            let content = argument?.content ?? .value(.null)
            let name = urls.encode(parameter.name)
            if let literal = literal(content, parameter.type).map(urls.encode), Self.isGoodInPath(literal) {
                texts.append("\(name)=\(literal)")
            } else {
                let text = literal(content, parameter.type) ?? json(content, parameter)
                texts.append("\(name)=@\(name)")
                aliases.append("@\(name)=" + PercentCoding.encode(text, for: .queryValue))
            }
        }
        return "(\(texts.joined(separator: ",")))"
    }

    /// Returns whether the literal is safe in a path.
    ///
    /// Many servers reject encoded slashes and backslashes in a path, or decode percent signs twice.
    private static func isGoodInPath(_ encoded: String) -> Bool {
        encoded.utf8.count <= longestInPath && !["%2F", "%5C", "%25"].contains { encoded.contains($0) }
    }

    /// Returns the literal, or nil for a value without a literal form in V4 URLs.
    private func literal(_ content: OperationInvocation.Argument.ArgumentValue, _ type: TypeReference) -> String? {
        guard case .value(let value) = content else { return nil }
        switch value {
        case .null: return "null"
        case .complex, .collection: return nil
        case .enumeration(let members) where !version.isLegacy:
            return PrimitiveLiteral.format(enumeration: members, typeName: type.name)
        default: return PrimitiveLiteral.format(value, as: type.primitive, version: version, form: .url)
        }
    }

    /// Returns the query options of V2. V2 has no form for null: an omitted option is null.
    private func options(of invocation: OperationInvocation) -> [String] {
        invocation.operation.parameters.compactMap { parameter in
            guard let argument = invocation.arguments.first(where: { $0.name == parameter.name }),
                argument.content != .value(.null), let text = literal(argument.content, parameter.type)
            else { return nil }
            return PercentCoding.encode(parameter.name, for: .unreservedOnly) + "="
                + PercentCoding.encode(text, for: .queryValue)
        }
    }

    // MARK: JSON

    private func body(of invocation: OperationInvocation) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for parameter in invocation.operation.parameters {
            guard let argument = invocation.arguments.first(where: { $0.name == parameter.name }) else { continue }
            if case .value(let value) = argument.content {
                values.property(parameter.name, value, parameter.type, &writer)
            } else {
                writer.name(parameter.name)
                write(argument.content, parameter, to: &writer)
            }
        }
        writer.endObject()
        return writer.bytes
    }

    private func json(
        _ content: OperationInvocation.Argument.ArgumentValue, _ parameter: ServiceOperation.Parameter
    ) -> String {
        var writer = JSONWriter()
        write(content, parameter, to: &writer)
        return writer.text
    }

    private func write(
        _ content: OperationInvocation.Argument.ArgumentValue, _ parameter: ServiceOperation.Parameter,
        to writer: inout JSONWriter
    ) {
        switch content {
        case .value(let value): values.write(value, as: parameter.type, to: &writer)
        case .entity(let entity): write(entity, declared: parameter.type.name, to: &writer)
        case .entities(let entities):
            writer.beginArray()
            for entity in entities { write(entity, declared: parameter.type.name, to: &writer) }
            writer.endArray()
        }
    }

    private func write(
        _ entity: OperationInvocation.Argument.Entity, declared: String, to writer: inout JSONWriter
    ) {
        switch entity {
        case .reference(let reference, _):
            writer.beginObject()
            writer.name("@odata.id")
            writer.string(urls.absolute(reference))
            writer.endObject()
        case .body(let body):
            var inner = EntityBodyWriter(version: version, options: options, urls: urls, values: values)
            inner.write(body, declared: declared)
            writer.raw(inner.json.text)
        }
    }

    private var values: ValueJSONWriter {
        ValueJSONWriter(version: version, model: model, isIEEE754Compatible: options.isIEEE754Compatible)
    }
}
