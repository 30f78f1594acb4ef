import EDM
import ODataWire

/// Reads one answer to a defining query, a chunk at a time.
///
/// ``nextLink``, ``deltaLink`` and ``context`` are complete once ``next()`` has given nil.
struct PageReading {
    /// How many items a chunk has at most: what is logged and folded in one transaction.
    static let chunkSize = 1_000

    private var source: Source
    private let place: String

    private enum Source {
        case feed(FeedReader)
        /// What is left of an answer that is one entity.
        case single(EntityPayload?)
    }

    /// - Parameters:
    ///   - type: of what the query leads to.
    ///   - isSingle: the answer is one entity.
    ///   - place: what was asked, for errors.
    init(
        _ response: WireResponse, _ reader: PayloadReader, _ type: EntityType, isSingle: Bool, place: String
    ) throws(TidelogError) {
        self.place = place
        do throws(PayloadError) {
            source =
                isSingle
                ? .single(try reader.entity(response.body, type: type))
                : .feed(try reader.feedReader(response.body, type: type))
        } catch {
            throw Self.unreadable(error, place)
        }
    }

    /// The next items; nil, for good, behind the last ones. A page without items has no chunk.
    mutating func next() async throws(TidelogError) -> [DeltaItem]? {
        switch source {
        case .single(let entity):
            source = .single(nil)
            return entity.map { [.entity($0)] }
        case .feed(var feed):
            var items: [DeltaItem] = []
            do throws(PayloadError) {
                while items.count < Self.chunkSize, let item = try feed.next() { items.append(item) }
            } catch {
                throw Self.unreadable(error, place)
            }
            source = .feed(feed)
            return items.isEmpty ? nil : items
        }
    }

    var nextLink: String? { feed?.nextLink }
    var deltaLink: String? { feed?.deltaLink }
    var context: String? { feed?.context }

    private var feed: FeedReader? { if case .feed(let feed) = source { feed } else { nil } }

    private static func unreadable(_ error: PayloadError, _ place: String) -> TidelogError {
        TidelogError(.notOData, "The answer to a defining query cannot be read: \(error)", place: place, cause: error)
    }
}
