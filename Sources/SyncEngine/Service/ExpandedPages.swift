package import EDM
package import ODataWire
import SyncCore

/// Reads what expanded collections have on pages of their own (OData 4.01 Part 1, section 11.2.6.7; `__next` in V2), at any
/// depth: a service pages what is expanded as it pages everything else.
package struct ExpandedPages {
    private let model: EntityDataModel
    private let reader: PayloadReader
    private let limits: ServiceLimits
    /// How many bytes the pages of the entity have had.
    private var received = 0

    package init(model: EntityDataModel, reader: PayloadReader, limits: ServiceLimits = ServiceLimits()) {
        self.model = model
        self.reader = reader
        self.limits = limits
    }

    /// Whether anything below the entity goes on elsewhere.
    package static func areMissing(in entity: EntityPayload) -> Bool {
        entity.expanded.contains { $0.nextLink != nil || $0.entities.contains(where: areMissing) }
    }

    /// Adds them to the entity.
    ///
    /// - Parameters:
    ///   - declared: the type that the entity is of where it does not say.
    ///   - request: what the entity is in the answer to.
    /// - Returns: false if the entity becomes larger with them than the limits allow; then not all of them were read.
    @inline(never) @_optimize(none)
    package mutating func complete(
        _ entity: inout EntityPayload, _ declared: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) -> Bool {
        received = 0
        try await completeAll(&entity, declared, of: request, from: &source)
        return received <= limits.entityBytes
    }

    @inline(never) @_optimize(none)
    private mutating func completeAll(
        _ entity: inout EntityPayload, _ declared: EntityType, of request: String, from source: inout some PageSource
    ) async throws(TidelogError) {
        let type = entity.type.flatMap { model.findEntityType($0) } ?? declared
        for index in entity.expanded.indices {
            guard let name = type.findProperty(entity.expanded[index].navigation)?.navigation?.targetType,
                let target = model.findEntityType(name)
            else { continue }
            var expanded = entity.expanded[index]
            try await completeEntities(&expanded.entities, 0, target, of: request, from: &source)
            var seen: Set<ExactText> = []
            var progress = PageProgress(limit: limits.fruitlessPages)
            var request = request
            while let link = expanded.nextLink, received <= limits.entityBytes {
                let page = try await source.page(at: link, in: request)
                request = page.url
                guard seen.insert(ExactText(request)).inserted else {
                    throw TidelogError(
                        .notOData, "The service's next links lead in a circle.", place: Self.place(request))
                }
                received += page.body.count
                let feed = try read(page.body, target, request)
                guard progress.goesOn(behind: feed.entities.first.map { DeltaItem.entity($0).identity(target) }) else {
                    throw .withoutProgress(request, limits)
                }
                let read = expanded.entities.count
                expanded.entities += feed.entities
                expanded.unreadable += feed.unreadable
                expanded.nextLink = feed.nextLink
                try await completeEntities(&expanded.entities, read, target, of: request, from: &source)
            }
            entity.expanded[index] = expanded
        }
    }

    /// Those from a place on.
    @inline(never) @_optimize(none)
    private mutating func completeEntities(
        _ entities: inout [EntityPayload], _ start: Int, _ type: EntityType, of request: String,
        from source: inout some PageSource
    ) async throws(TidelogError) {
        for index in entities.indices.dropFirst(start) where Self.areMissing(in: entities[index]) {
            try await completeAll(&entities[index], type, of: request, from: &source)
        }
    }

    /// What is known of an entity that does not fit the limits with what is expanded below it.
    func tooLarge(_ entity: EntityPayload) -> UnreadableEntity {
        var entity = entity
        entity.expanded = []
        let error = PayloadError(
            .tooLarge,
            "The entity is too large to be read: the pages expanded below it have more than \(limits.entityBytes) bytes."
        )
        return UnreadableEntity(error: error, entity: entity, text: "", hasExpanded: true)
    }

    private func read(_ body: [UInt8], _ type: EntityType, _ url: String) throws(TidelogError) -> FeedPayload {
        do throws(PayloadError) {
            return try reader.feed(body, type: type)
        } catch {
            throw PageReading.unreadable(error, Self.place(url))
        }
    }

    private static func place(_ url: String) -> String { "GET \(url.prefix { $0 != "?" })" }
}

/// Where pages come from.
package protocol PageSource {
    /// The answer at a link in the answer to a request, and the URL that was asked. Throws where it is no success.
    mutating func page(
        at link: String, in request: String
    ) async throws(TidelogError) -> (url: String, body: [UInt8])
}
