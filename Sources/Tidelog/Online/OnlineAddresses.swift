import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore

/// Resolves addresses of existing entities to references, sets and keys.
struct OnlineAddresses {
    let model: EntityDataModel

    func reference(_ address: EntityAddress) throws(TidelogError) -> ResourceReference {
        switch address {
        case .link(let url): return .url(url)
        case .key(let name, let key):
            guard let set = model.findEntitySet(name) else { throw .unknownAtService("entity set \(name)") }
            return .entity(set: set, key: key)
        case .id(let id): throw .onlyInStore(id)
        case .draft: throw TidelogError(.refused(.entityNotFound), "A new entity has no address before it is created.")
        }
    }

    func set(of address: EntityAddress) throws(TidelogError) -> EntitySet {
        switch address {
        case .key(let name, _):
            if let set = model.findEntitySet(name) { return set }
        case .link(let url):
            // The last segment without its key is the set's name, whatever root precedes it.
            let request = try? ServiceRequest.parse(url, model: model, version: model.version)
            if let path = request.flatMap({ ContainmentPath($0.path, model) }), path.set.isContained { return path.set }
            // An editLink can end with a type cast.
            let path = url.prefix { $0 != "?" }.split(separator: "/").last { !isType($0) } ?? ""
            if let set = model.findEntitySet(String(path.prefix { $0 != "(" })) { return set }
        case .id(let id): throw .onlyInStore(id)
        case .draft: break
        }
        throw TidelogError(.invalidRequest, "The link of the entity does not determine its entity set.")
    }

    private func isType(_ segment: Substring) -> Bool {
        model.findEntityType(model.resolveAlias((try? PercentCoding.decode(segment)) ?? "")) != nil
    }

    /// Returns the value of a key property that the address contains.
    private func key(_ property: String, of address: EntityAddress) throws(TidelogError) -> Value? {
        let set = try set(of: address)
        switch address {
        case .key(_, let key): return key.properties(of: set.entityType).value(at: property)
        case .link(let url):
            let last = url.prefix { $0 != "?" }.split(separator: "/").last { !isType($0) }.map(String.init) ?? ""
            guard let start = last.firstIndex(of: "("), let text = try? PercentCoding.decode(last[start...]),
                case .key(let key)? = try? KeySelector.parse(text, of: set.entityType, version: model.version)
            else { return nil }
            return key.properties(of: set.entityType).value(at: property)
        case .id, .draft: return nil
        }
    }

    /// Returns the headers of a request, with the keys in the templates.
    func headers(_ options: IntentOptions) throws(TidelogError) -> HTTPHeaders {
        var headers = options.headers
        for template in options.headerTemplates {
            var text = ""
            for part in template.parts {
                switch part {
                case .text(let fixed): text += fixed
                case .key(let address, let property):
                    guard let value = try key(property, of: address) else {
                        throw TidelogError(
                            .invalidRequest,
                            "The header \(template.name) names \(property), which the link of the entity does not contain.",
                            recovery: "Name a key property of an entity that the service has.")
                    }
                    text += HeaderText.key(value, version: model.version)
                }
            }
            headers.add(name: template.name, value: text)
        }
        return headers
    }
}

extension TidelogError {
    static func unknownAtService(_ what: String) -> TidelogError {
        TidelogError(.refused(.unknownProperty), "The service has no \(what).")
    }
}
