package import EDM
package import ODataWire
package import OfflineStore
import SyncCore

/// Reads the further pages of expanded collections, at any depth (OData 4.01 Part 1, section 11.2.6.7; `__next` in V2).
/// A service may page an expanded collection like any other.
package struct ExpandedPages {
    private let model: EntityDataModel
    private let reader: PayloadReader
    private let limits: ServiceLimits
    /// The number of bytes received in pages of the current entity.
    private var received = 0

    package init(model: EntityDataModel, reader: PayloadReader, limits: ServiceLimits = ServiceLimits()) {
        self.model = model
        self.reader = reader
        self.limits = limits
    }

    /// Returns whether any collection below the entity has further pages.
    package static func areMissing(in entity: EntityPayload) -> Bool {
        entity.expanded.contains { $0.nextLink != nil || $0.entities.contains(where: areMissing) }
            || entity.changes.contains { $0.nextLink != nil || $0.items.contains(where: areMissing) }
    }

    /// Returns whether any collection below the item has further pages.
    static func areMissing(in item: DeltaItem) -> Bool {
        if case .entity(let entity) = item { areMissing(in: entity) } else { false }
    }

    /// Adds the items of all further pages to the entity.
    ///
    /// - Parameters:
    ///   - declared: The type of the entity if the payload does not contain it.
    ///   - request: The request whose response contains the entity.
    /// - Returns: False if the entity exceeds the size limit with these pages. Then some of them were not read.
    package mutating func complete(
        _ entity: inout EntityPayload, _ declared: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) -> Bool {
        received = 0
        try await completeAll(&entity, declared, of: request, from: &source)
        return received <= limits.entityBytes
    }

    private mutating func completeAll(
        _ entity: inout EntityPayload, _ declared: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) {
        let type = entity.type.flatMap { model.findEntityType($0) } ?? declared
        for index in entity.expanded.indices {
            guard let target = target(of: entity.expanded[index].navigation, type) else { continue }
            var expanded = entity.expanded[index]
            for place in expanded.entities.indices where Self.areMissing(in: expanded.entities[place]) {
                try await completeAll(&expanded.entities[place], target, of: request, from: &source)
            }
            let more = try await items(after: expanded.nextLink, target, of: request, from: &source)
            for item in more {
                switch item.declared(by: target) {
                case .entity(let entity): expanded.entities.append(entity)
                case .unreadable(let found): expanded.unreadable.append(found)
                case .removed, .link: throw Self.unexpected(request)
                }
            }
            expanded.nextLink = nil
            entity.expanded[index] = expanded
        }
        for index in entity.changes.indices {
            guard let target = target(of: entity.changes[index].navigation, type) else { continue }
            var change = entity.changes[index]
            try await completeItems(&change.items, target, of: request, from: &source)
            change.items += try await items(after: change.nextLink, target, of: request, from: &source).map {
                $0.declared(by: target)
            }
            change.nextLink = nil
            entity.changes[index] = change
        }
    }

    private func target(of navigation: String, _ type: EntityType) -> EntityType? {
        (type.findProperty(navigation)?.navigation?.targetType).flatMap { model.findEntityType($0) }
    }

    /// Returns the items of the page at the link and of all later pages, each with its own further pages.
    private mutating func items(
        after link: String?, _ type: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) -> [DeltaItem] {
        var (link, request) = (link, request)
        var items: [DeltaItem] = []
        var seen: Set<ExactText> = []
        var progress = PageProgress(limit: limits.fruitlessPages)
        while let next = link, received <= limits.entityBytes {
            let page = try await source.page(at: next, in: request)
            request = page.url
            guard seen.insert(ExactText(request)).inserted else {
                throw TidelogError(
                    .notOData, "The next links of the service form a cycle.", place: Self.place(request))
            }
            received += page.body.count
            var read = try read(page.body, type, request)
            guard progress.shouldContinue(after: read.items.first?.identity(type)) else {
                throw .withoutProgress(request, limits)
            }
            try await completeItems(&read.items, type, of: request, from: &source)
            items += read.items
            link = read.nextLink
        }
        return items
    }

    private mutating func completeItems(
        _ items: inout [DeltaItem], _ type: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) {
        for index in items.indices {
            guard case .entity(var entity) = items[index], Self.areMissing(in: entity) else { continue }
            try await completeAll(&entity, type, of: request, from: &source)
            items[index] = .entity(entity)
        }
    }

    private func read(
        _ body: [UInt8], _ type: EntityType, _ url: String
    ) throws(TidelogError) -> (items: [DeltaItem], nextLink: String?) {
        do throws(PayloadError) {
            var feed = try reader.feedReader(body, type: type)
            var items: [DeltaItem] = []
            while let item = try feed.next() { items.append(item) }
            return (items, feed.nextLink)
        } catch {
            throw PageReader.unreadable(error, Self.place(url))
        }
    }

    /// Returns a placeholder for an entity that exceeds the limits with its expanded entities.
    func tooLarge(_ entity: EntityPayload) -> UnreadableEntity {
        var entity = entity
        entity.expanded = []
        let error = PayloadError(
            .tooLarge,
            "The entity is too large to be read: the pages expanded below it have more than \(limits.entityBytes) bytes."
        )
        return UnreadableEntity(error: error, entity: entity, text: "", hasExpanded: true)
    }

    private static func unexpected(_ url: String) -> TidelogError {
        let error = PayloadError(.unexpectedShape, "A collection that is not a delta contains a change.")
        return PageReader.unreadable(error, place(url))
    }

    private static func place(_ url: String) -> String { "GET \(url.prefix { $0 != "?" })" }
}

/// A source of pages.
package protocol PageSource {
    /// Returns the response body for a link in the response to a request, and the requested URL.
    ///
    /// - Throws: An error if the status is not a success.
    mutating func page(
        at link: String, in request: String
    ) async throws(TidelogError) -> (url: String, body: [UInt8])
}
