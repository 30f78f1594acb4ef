import EDM
import ODataWire

/// Reads one answer to a defining query while it arrives, a part at a time.
///
/// ``nextLink``, ``deltaLink`` and ``context`` are complete once ``next()`` has come to the end.
struct PageReading {
    /// How many items a part has at most: what is logged and folded in one transaction.
    static let partSize = 1_000
    /// Behind how many bytes a part ends that has fewer items, so that large ones do not pile up.
    static let partByteLimit = 4 << 20

    /// What comes next in an answer.
    enum Part {
        /// - Parameter isLast: whether nothing follows but the end.
        case items([DeltaItem], isLast: Bool)
        case end
        /// The rest of the answer does not come. What was given before is part of it all the same.
        case brokenOff(TidelogError)
    }

    private let reader: PayloadReader
    private let type: EntityType
    private let isSingle: Bool
    private let body: StreamedBody
    private let place: String
    private var feed: FeedReader
    private var hasEnded = false
    /// The first item of the next part: that there is one tells that a part is not the last.
    private var ahead: DeltaItem?
    /// The first item of the page, once it was read.
    private(set) var first: DeltaItem?

    /// - Parameters:
    ///   - type: of what the query leads to.
    ///   - isSingle: the answer is one entity.
    ///   - place: what was asked, for errors.
    init(_ body: StreamedBody, _ reader: PayloadReader, _ type: EntityType, isSingle: Bool, place: String) {
        self.body = body
        self.reader = reader
        self.type = type
        self.isSingle = isSingle
        self.place = place
        feed = reader.feedReader(type: type)
    }

    /// The next items, at least one. Waits for bytes only where those that are there hold no whole part and an item behind it.
    /// Throws where the answer is no page.
    mutating func next() async throws(TidelogError) -> Part {
        isSingle ? try await entity() : try await items()
    }

    @inline(never) @_optimize(none)
    private mutating func items() async throws(TidelogError) -> Part {
        var items: [DeltaItem] = []
        var received = 0
        while true {
            let isLarge = received >= Self.partByteLimit
            try take(&items, isFull: isLarge)
            if ahead != nil { return .items(items, isLast: false) }
            if hasEnded { return items.isEmpty ? .end : .items(items, isLast: true) }
            switch await chunk() {
            case .failure(let error):
                // What is whole is taken all the same; the next call breaks off again.
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

    /// What can be read of the bytes that are there, up to a whole part and the first item behind it.
    ///
    /// - Parameter isFull: whether any item ends the part.
    private mutating func take(_ items: inout [DeltaItem], isFull: Bool) throws(TidelogError) {
        if items.isEmpty {
            items.reserveCapacity(Self.partSize)
            if let first = ahead { items.append(first) }
            ahead = nil
        }
        do throws(PayloadError) {
            while let item = try feed.next() {
                if first == nil { first = item }
                if items.count >= Self.partSize || (isFull && !items.isEmpty) {
                    ahead = item
                    return
                }
                items.append(item)
            }
        } catch {
            throw unreadable(error)
        }
    }

    @inline(never) @_optimize(none)
    private mutating func entity() async throws(TidelogError) -> Part {
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

    /// The answer, which is in error as a whole.
    static func unreadable(_ error: PayloadError, _ place: String) -> TidelogError {
        guard error.code != .serviceError else {
            return TidelogError(
                .service(status: 200), error.message, place: place,
                recovery: "Nothing of the answer was taken and nothing was removed; download again.", cause: error)
        }
        return TidelogError(
            error.code == .tooLarge ? .tooLarge : .notOData,
            "The answer to a defining query cannot be read: \(error)", place: place,
            recovery: "Nothing of the answer was taken and nothing was removed; download again.", cause: error)
    }
}
