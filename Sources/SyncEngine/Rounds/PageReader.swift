import EDM
import ODataWire
import OfflineStore
import SyncCore

/// Reads one response to a defining query in parts while it arrives.
///
/// ``nextLink``, ``deltaLink`` and ``context`` are complete after ``next()`` has returned the end.
struct PageReader {
    /// The largest number of items in a part. A part is logged and folded in one transaction.
    static let partSize = 1_000
    /// The number of received bytes after which a part ends early, to bound memory if items are large.
    static let partByteLimit = 4 << 20

    /// The next step of a response.
    enum ReadStep {
        /// Some items.
        ///
        /// - Parameter isLast: Whether only the end follows.
        case items([DeltaItem], isLast: Bool)
        case end
        /// The connection broke off. The parts that were returned before remain valid.
        case brokenOff(TidelogError)
    }

    private let reader: PayloadReader
    private let type: EntityType
    private let isSingle: Bool
    private let body: StreamedBody
    private let place: String
    private var feed: FeedReader
    private var hasEnded = false
    /// The first item of the next part. If it exists, the current part is not the last.
    private var ahead: DeltaItem?
    private var hasItemAhead = false
    /// The identity of the page's first item, after it was read.
    private(set) var first: ExactText?

    /// Creates a reader for one response.
    ///
    /// - Parameters:
    ///   - type: The entity type of the query's result.
    ///   - isSingle: Whether the response is a single entity.
    ///   - place: The request, for error messages.
    init(_ body: StreamedBody, _ reader: PayloadReader, _ type: EntityType, isSingle: Bool, place: String) {
        self.body = body
        self.reader = reader
        self.type = type
        self.isSingle = isSingle
        self.place = place
        feed = reader.feedReader(type: type)
    }

    /// Returns the next part, with at least one item.
    ///
    /// Waits for bytes only if the received ones do not contain a full part and the item after it.
    ///
    /// - Throws: An error if the response is not a page.
    mutating func next() async throws(TidelogError) -> ReadStep {
        isSingle ? try await entity() : try await items()
    }

    private mutating func items() async throws(TidelogError) -> ReadStep {
        var items: [DeltaItem] = []
        var received = 0
        while true {
            let isLarge = received >= Self.partByteLimit
            try readItems(&items, isFull: isLarge)
            if hasItemAhead { return .items(items, isLast: false) }
            if hasEnded { return items.isEmpty ? .end : .items(items, isLast: true) }
            switch await chunk() {
            case .failure(let error):
                // A full part is returned first; the next call reports the break-off.
                let isWhole = items.count >= Self.partSize || (isLarge && !items.isEmpty)
                return isWhole ? .items(items, isLast: false) : .brokenOff(error)
            case .success(let chunk?):
                received += chunk.count
                feed.append(chunk)
            case .success(nil):
                hasEnded = true
                feed.finish()
            }
        }
    }

    /// Reads items from the received bytes, up to a full part and the first item after it.
    ///
    /// - Parameter isFull: Whether any item ends the part.
    private mutating func readItems(_ items: inout [DeltaItem], isFull: Bool) throws(TidelogError) {
        if items.isEmpty {
            items.reserveCapacity(Self.partSize)
            if let first = ahead { items.append(first) }
            (ahead, hasItemAhead) = (nil, false)
        }
        do throws(PayloadError) {
            while let item = try feed.next() {
                if first == nil { first = item.identity(type) }
                if items.count >= Self.partSize || (isFull && !items.isEmpty) {
                    (ahead, hasItemAhead) = (consume item, true)
                    return
                }
                items.append(consume item)
            }
        } catch {
            throw unreadable(error)
        }
    }

    private mutating func entity() async throws(TidelogError) -> ReadStep {
        guard !hasEnded else { return .end }
        var bytes: [UInt8] = []
        while bytes.count <= reader.limits.itemSize {
            let chunk = await chunk()
            if case .failure(let error) = chunk { return .brokenOff(error) }
            guard case .success(let more?) = chunk else { break }
            bytes += more
        }
        hasEnded = true
        guard bytes.count <= reader.limits.itemSize else {
            return .items([.unreadable(reader.unreadable(beginning: bytes, type))], isLast: true)
        }
        do throws(PayloadError) {
            return .items([try reader.wholeEntity(bytes, type: type)], isLast: true)
        } catch {
            throw unreadable(error)
        }
    }

    private func chunk() async -> Result<[UInt8]?, TidelogError> {
        do throws(TidelogError) { return .success(try await body.next()) } catch { return .failure(error) }
    }

    var nextLink: String? { feed.nextLink }
    var deltaLink: String? { feed.deltaLink }
    var context: String? { feed.context }

    private func unreadable(_ error: PayloadError) -> TidelogError { Self.unreadable(error, place) }

    /// Returns the error for a response that is invalid as a whole.
    static func unreadable(_ error: PayloadError, _ place: String) -> TidelogError {
        guard error.code != .serviceError else {
            return TidelogError(
                .service(status: 200), error.message, place: place,
                recovery: "Download again; no part of the response was stored, and no entity was removed.", cause: error
            )
        }
        return TidelogError(
            error.code == .tooLarge ? .tooLarge : .notOData,
            "The response to a defining query cannot be read: \(error)", place: place,
            recovery: "Download again; no part of the response was stored, and no entity was removed.", cause: error)
    }
}
