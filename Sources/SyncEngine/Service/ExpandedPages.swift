package import EDM
package import ODataWire

/// Reads what expanded collections have on pages of their own (OData 4.01 Part 1, section 11.2.6.7; `__next` in V2), at any
/// depth: a service pages what is expanded as it pages everything else.
package struct ExpandedPages {
    private let model: EntityDataModel
    private let reader: PayloadReader

    package init(model: EntityDataModel, reader: PayloadReader) {
        self.model = model
        self.reader = reader
    }

    /// The most pages that one expanded collection may have.
    private static let pageLimit = 1_000_000

    /// Whether anything below the entity goes on elsewhere.
    package static func areMissing(in entity: EntityPayload) -> Bool {
        entity.expanded.contains { $0.nextLink != nil || $0.entities.contains(where: areMissing) }
    }

    /// Adds them to the entity.
    ///
    /// - Parameters:
    ///   - declared: the type that the entity is of where it does not say.
    ///   - request: what the entity is in the answer to.
    @inline(never) @_optimize(none)
    package func complete(
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
            var request = request
            while let link = expanded.nextLink {
                let page = try await source.page(at: link, in: request)
                request = page.url
                guard seen.insert(ExactText(request)).inserted, seen.count <= Self.pageLimit else {
                    throw TidelogError(
                        .notOData, "The service's next links lead in a circle.", place: Self.place(request))
                }
                let feed = try read(page.body, target, request)
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
    private func completeEntities(
        _ entities: inout [EntityPayload], _ start: Int, _ type: EntityType, of request: String,
        from source: inout some PageSource
    ) async throws(TidelogError) {
        for index in entities.indices.dropFirst(start) where Self.areMissing(in: entities[index]) {
            try await complete(&entities[index], type, of: request, from: &source)
        }
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
