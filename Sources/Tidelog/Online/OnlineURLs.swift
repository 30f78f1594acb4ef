import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore

extension TidelogError {
    static func onlyInStore(_ id: EntityID) -> TidelogError {
        TidelogError(
            .invalidRequest, "A service does not know the entity ID \(id).",
            recovery: "Identify the entity by its link or key.")
    }
}

/// The URLs of queries and streams at a service.
package struct OnlineURLs: Sendable {
    package let model: EntityDataModel
    let encoder: RequestEncoder

    package init(model: EntityDataModel, root: String, format: ServiceOptions.PayloadFormat = .json) {
        self.model = model
        encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: root, options: ServiceOptions(payloadFormat: format))
    }

    /// Returns the URLs whose results together are the result of the query: one, or several for the entities that refer
    /// to an entity.
    package func urls(of request: QueryRequest) throws(TidelogError) -> [String] {
        switch request {
        case .url(let url): return [url]
        case .set(let set, let options): return [set.segment + (try suffix(options))]
        case .related(let address, let property, let options):
            return ["\(try url(of: address, having: property))/\(property.name)\(try suffix(options))"]
        case .entity(let id): throw .onlyInStore(id)
        case .sources(let address, let property, let options): return try sources(of: address, property, options)
        }
    }

    package func url(of address: EntityAddress) throws(TidelogError) -> String {
        switch address {
        case .link(let url): return encoder.url(of: .url(url))
        case .key(let name, let key):
            guard let set = model.findEntitySet(name) else {
                throw TidelogError(.refused(.unknownEntitySet), model.missingResource(name))
            }
            return encoder.url(of: .entity(set: set, key: key))
        case .id(let id): throw .onlyInStore(id)
        case .draft: throw TidelogError(.notFound, "A new entity cannot be read before it is created.")
        }
    }

    /// Returns the URL for reading a stream.
    package func url(of stream: StreamAddress) throws(TidelogError) -> String {
        if let link = stream.links?.readLink { return link }
        var entity = try url(of: stream.entity)
        // Derived types may have different properties of this name.
        if let name = stream.property, let type = type(at: entity),
            case let declarations = model.declarations(of: name, in: type), declarations.count == 1
        {
            entity = try url(of: stream.entity, having: declarations[0])
        }
        return encoder.streamURL(of: .url(entity), property: stream.property)
    }

    /// Returns the URL of an entity that can continue with the property: with a cast if the type to which the entity's
    /// URL leads does not have it.
    private func url(of address: EntityAddress, having property: Property) throws(TidelogError) -> String {
        let url = try url(of: address)
        guard model.version.hasTypeSegments, let type = type(at: url), type.findProperty(property.name) != property
        else {
            return url
        }
        return encoder.url(of: .cast(.url(url), to: property.declaringType))
    }

    /// Returns the declared type of the entity at a URL, or nil if the URL is not a canonical one.
    private func type(at url: String) -> EntityType? {
        guard case .entity(let type, _)? = request(at: url)?.path.target else { return nil }
        return type
    }

    private func request(at url: String) -> ServiceRequest? {
        try? ServiceRequest.parse(
            url, serviceRoot: encoder.absoluteURL(of: .url("")), model: model, version: model.version)
    }

    package func suffix(_ options: QueryOptions) throws(TidelogError) -> String {
        do {
            let text = try selectingExpanded(options).print(version: model.version)
            return text.isEmpty ? "" : "?" + text
        } catch {
            // Only V2 lacks options and functions.
            throw TidelogError(
                .unsupported, "\(error.description) (MS-ODATA, section 2.2.3.6.1)",
                recovery: "Filter or combine the entities after the query, or query a store.", cause: error)
        }
    }

    /// V2 omits expanded properties that are not selected.
    func selectingExpanded(_ options: QueryOptions) -> QueryOptions {
        guard model.version.isLegacy, !options.select.isEmpty else { return options }
        var options = options
        options.select += options.expand.map { SelectItem(path: $0.path) }
        return options
    }

    // MARK: Sources

    /// Returns the URLs of the entities whose navigation property leads to an entity: the partner property of the
    /// entity, or each set of such entities with a filter.
    private func sources(
        of address: EntityAddress, _ property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> [String] {
        if let partner = model.partner(of: property) {
            return ["\(try url(of: address, having: partner))/\(partner.name)\(try suffix(options))"]
        }
        let condition = try condition(property, isAt: address)
        var filtered = options
        filtered.filter = Expression.all(of: [options.filter, condition].compactMap { $0 })
        var urls: [String] = []
        for set in model.entitySets where !set.isContained && !set.isSingleton {
            if model.isType(set.entityType.name, derivedFrom: property.declaringType) {
                urls.append(set.segment + (try suffix(filtered)))
            } else if model.isType(property.declaringType, derivedFrom: set.entityType.name) {
                urls.append("\(set.segment)/\(property.declaringType)\(try suffix(filtered))")
            }
        }
        return urls
    }

    /// Returns the condition that a navigation property leads to the entity with this key.
    private func condition(
        _ property: Property, isAt address: EntityAddress
    ) throws(TidelogError) -> Expression {
        guard !property.isCollection || !model.version.isLegacy else {
            throw TidelogError(
                .unsupported,
                "V2 has no condition on the members of the collection \(property.name) (MS-ODATA, section 2.2.3.6.1.4), and the metadata has no property in the other direction.",
                recovery: "Read the entities with an expansion of \(property.name).")
        }
        let (key, type) = try key(of: address)
        func isAt(_ path: ExpressionPath) -> Expression? {
            Expression.all(of: key.located(in: type).map { Self.comparison(path, $0.property, $0.value, type) })
        }
        let own = ExpressionPath.Segment.property(property.name)
        guard property.isCollection else { return isAt(ExpressionPath(segments: [own])) ?? .true }
        let item = "item"
        let predicate = isAt(ExpressionPath(root: .variable(item), segments: [])) ?? .true
        return .path(
            ExpressionPath(segments: [own, .any(ExpressionPath.Lambda(variable: item, predicate: predicate))]))
    }

    private static func comparison(
        _ path: ExpressionPath, _ name: String, _ value: Value, _ type: EntityType?
    ) -> Expression {
        let segments = name.split(separator: "/").map { ExpressionPath.Segment.property(String($0)) }
        let target = ExpressionPath(root: path.root, segments: path.segments + segments)
        let declared = type?.keyParts.first { $0.path == name }?.type
        let literal: Expression =
            if case .enumeration(let members) = value, let declared {
                .enumeration(type: declared.name, value: members)
            } else {
                .literal(value, declared?.primitive)
            }
        return .comparison(.eq, .path(target), literal)
    }

    private func key(of address: EntityAddress) throws(TidelogError) -> (KeyPredicate, EntityType?) {
        if case .key(let name, let key) = address { return (key, model.findEntitySet(name)?.entityType) }
        let url = try url(of: address)
        let request = request(at: url)
        guard case .key(.key(let key))? = request?.path.segments.last, case .entity(let type, _)? = request?.path.target
        else {
            throw TidelogError(
                .invalidRequest, "The link \(URLText.withoutSecrets(url)) contains no key.",
                recovery: "Read the entity again, so that it has its canonical link.")
        }
        return (key, type)
    }
}
