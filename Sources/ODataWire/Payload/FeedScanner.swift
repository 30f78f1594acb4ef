public import EDM

/// Reads a page of a collection item by item, in the shape of any version and without a model.
///
/// Holds one item at a time, and of a page that is given in chunks as they arrive no more than that and a chunk. What
/// surrounds the items, the count and the links, may stand before or behind them: it is complete once ``next()`` has given
/// nil for a page that is there whole.
public struct FeedScanner: Sendable {
    /// `@odata.count` or `__count`.
    public private(set) var count: Int64?
    /// `@odata.nextLink` or `__next`.
    public private(set) var nextLink: String?
    /// `@odata.deltaLink` or `__delta`.
    public private(set) var deltaLink: String?
    /// The context URL of V4.
    public private(set) var context: String?

    private var scanner: JSONScanner
    private let isLegacy: Bool
    private let limits: JSONScanner.Limits
    private var place = Place()

    /// Whether all bytes are there.
    private var isWhole: Bool
    /// How many bytes were let go.
    private var dropped = 0
    /// As long as fewer are unread, it is not worth the time to read again what could not be read whole.
    private var wanted = 0

    /// What the service says of its failure in the midst of the page; the page is in error as a whole.
    private var serviceError: JSONValue?
    private var hasSecondCollection = false
    /// While an item is passed over that is too large.
    private var skimmer: ItemSkimmer?
    /// Why it is.
    private var excess: JSONError?
    /// Where the item that is being read begins.
    private var itemMark: JSONScanner.Mark?

    private enum State { case start, items, around, done }

    private struct Place {
        var state = State.start
        var openObjects = 0
        var hasItems = false
        var index = 0
        /// The names of the members around the items, each behind how deep it stands.
        var names: Set<[UInt8]> = []
    }

    /// For a page that is there whole.
    public init(_ bytes: [UInt8], version: ODataVersion, limits: JSONScanner.Limits = .init()) throws(PayloadError) {
        self.init(version: version, limits: limits)
        guard bytes.count <= limits.size else { throw Self.tooLarge(limits) }
        append(bytes)
        finish()
    }

    /// For a page that is still to come: ``append(_:)`` and ``finish()`` say of what.
    public init(version: ODataVersion, limits: JSONScanner.Limits = .init()) {
        scanner = JSONScanner(limits: limits)
        scanner.checksNames = true
        isLegacy = version.isLegacy
        isWhole = false
        self.limits = limits
    }

    /// Adds the bytes that follow those already given. To be called once ``next()`` has given nil.
    public mutating func append(_ chunk: [UInt8]) { dropped += scanner.append(chunk) }

    /// Says that no more bytes follow; ``next()`` goes on to the last item, or finds that the page is cut off.
    public mutating func finish() { isWhole = true }

    /// The next item; nil where more bytes are needed for it, and for good behind the last one of a whole page.
    ///
    /// The result, and the error, are the same whichever way the bytes were cut; only a page beyond the limit of size is
    /// read up to there. A page is read in time proportional to its size, however small the chunks.
    public mutating func next() throws(PayloadError) -> JSONValue? {
        switch try nextItem() {
        case .value(let value): return value
        case .damaged(_, let error): throw PayloadError(error)
        case .oversized(let item): throw PayloadError(.tooLarge, item.message, path: "/\(itemStep)")
        // Rows come to a caller that has said what they look like.
        case .checked, .row, nil: return nil
        }
    }

    /// Of the page: a value, or what it says where it looks as ``rows`` has learned.
    enum Item {
        /// It was passed over; see ``onlyChecks``.
        case checked
        case value(JSONValue)
        case row(RowReader.Row)
        /// A value with a string that is no text, in which replacement characters stand for what none stands for.
        case damaged(JSONValue, JSONError)
        /// It is larger than the limits allow.
        case oversized(OversizedItem)
    }

    /// What is known of an item that was passed over because it is too large.
    struct OversizedItem {
        /// Why, a sentence.
        var message: String
        var skimmer: ItemSkimmer
    }

    /// Whether items are checked to be JSON and passed over.
    var onlyChecks = false

    /// Reads rows that look like the one before.
    var rows = RowReader()

    /// The next item, as ``next()`` gives it.
    mutating func nextItem() throws(PayloadError) -> Item? {
        guard dropped + scanner.bytes.count <= limits.size else { throw Self.tooLarge(limits) }
        if skimmer != nil { return try skim() }
        guard isWhole || scanner.unread >= wanted else { return nil }
        let (before, mark) = (place, scanner.mark)
        let item: Item?
        do { item = try step() } catch {
            if isExcess(error) { return try beginSkimming(error) }
            guard !isWhole, error.offset + Self.farthestLook > scanner.bytes.count else { throw located(error) }
            place = before
            scanner.goBack(to: mark)
            scanner.endItem()
            guard scanner.unread <= Self.gapLimit(limits) else {
                throw PayloadError(.tooLarge, "What surrounds the entities has more than \(limits.itemSize) bytes.")
            }
            wanted = min(2 * scanner.unread, Self.gapLimit(limits))
            return nil
        }
        wanted = 0
        if let serviceError { throw .inStream(serviceError) }
        if hasSecondCollection {
            throw PayloadError(.unexpectedShape, "The payload holds two collections of entities.")
        }
        guard item != nil || place.hasItems else {
            throw PayloadError(.unexpectedShape, "The payload holds no collection of entities.")
        }
        return item
    }

    /// An error that is at least as far from the end of the bytes is one whatever follows: nothing is judged by more bytes
    /// than the two escapes of a surrogate pair.
    private static let farthestLook = 12

    private func located(_ error: JSONError) -> PayloadError {
        PayloadError(JSONError(error.code, error.message, at: dropped + error.offset))
    }

    // MARK: Items that are too large

    /// Bytes that may be there unread although nothing is too large: an item, and what stands in front of it.
    private static func gapLimit(_ limits: JSONScanner.Limits) -> Int {
        let (limit, overflows) = limits.itemSize.addingReportingOverflow(1 << 16)
        return overflows ? .max : limit
    }

    /// Whether the item that is being read is larger than it may be, whatever else is wrong with it behind the limit.
    private func isExcess(_ error: JSONError) -> Bool {
        place.state == .items && scanner.itemEnd < .max && (error.code == .tooLarge || error.offset > scanner.itemEnd)
    }

    /// Passes over the item that was being read.
    private mutating func beginSkimming(_ error: JSONError) throws(PayloadError) -> Item? {
        if let itemMark { scanner.goBack(to: itemMark) }
        scanner.endItem()
        wanted = 0
        skimmer = ItemSkimmer(limits)
        excess = error.code == .tooLarge ? error : scanner.itemIsTooLarge
        return try skim()
    }

    private mutating func skim() throws(PayloadError) -> Item? {
        guard var skimming = skimmer else { return nil }
        let start = scanner.offset
        let end: Int?
        do throws(JSONError) { end = try skimming.pass(scanner.bytes, from: start) } catch { throw located(error) }
        guard let end else {
            guard !isWhole else {
                throw located(JSONError(.truncated, "The document ends too early.", at: scanner.bytes.count))
            }
            skimmer = skimming
            scanner.offset = scanner.bytes.count
            return nil
        }
        scanner.offset = end
        skimmer = nil
        if onlyChecks { return .checked }
        return .oversized(OversizedItem(message: excess?.message ?? "", skimmer: skimming))
    }

    private static func tooLarge(_ limits: JSONScanner.Limits) -> PayloadError {
        PayloadError(JSONError(.tooLarge, "The document has more than \(limits.size) bytes.", at: 0))
    }

    private mutating func step() throws(JSONError) -> Item? {
        while true {
            switch place.state {
            case .start: try start()
            case .items:
                guard try scanner.nextItem() else {
                    place.state = .around
                    continue
                }
                place.index += 1
                scanner.beginItem()
                itemMark = scanner.mark
                let item = try item()
                guard scanner.offset <= scanner.itemEnd else { throw scanner.itemIsTooLarge }
                scanner.endItem()
                return item
            case .around: try around()
            case .done: return nil
            }
        }
    }

    private mutating func item() throws(JSONError) -> Item {
        scanner.badText = nil
        scanner.toleratesBadText = true
        defer { scanner.toleratesBadText = false }
        if onlyChecks {
            let range = try scanner.skip()
            if scanner.unread == 0, range.count > 0, Self.isDigit(scanner.bytes[range.upperBound - 1]) {
                try needMore()
            }
            return .checked
        }
        if let row = rows.read(&scanner) { return .row(row) }
        let item = try scanner.value()
        // Further digits may follow.
        if case .number = item, scanner.unread == 0 { try needMore() }
        if let error = scanner.badText {
            return .damaged(item, JSONError(error.code, error.message, at: dropped + error.offset))
        }
        return .value(item)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Throws what ``next()`` takes back, unless the page is whole.
    private func needMore() throws(JSONError) {
        guard isWhole else {
            throw JSONError(.truncated, "The document ends too early.", at: scanner.bytes.count)
        }
    }

    /// Where the item that ``next()`` gave last stands, for messages.
    var itemStep: Int { max(0, place.index - 1) }

    private mutating func start() throws(JSONError) {
        scanner.skipByteOrderMark()
        switch try scanner.peek() {
        case .array where isLegacy: try enterItems()
        case .object:
            try scanner.beginObject()
            place.openObjects = 1
            place.state = .around
        default: try end()
        }
    }

    private mutating func enterItems() throws(JSONError) {
        try scanner.beginArray()
        place.hasItems = true
        place.state = .items
    }

    /// Reads members until items begin or the document ends.
    private mutating func around() throws(JSONError) {
        while place.openObjects > 0 {
            while let name = try scanner.nextName() {
                try note(name)
                if try enters(name) { return }
                if serviceError != nil || hasSecondCollection { return place.state = .done }
            }
            place.openObjects -= 1
        }
        try end()
    }

    private mutating func note(_ name: String) throws(JSONError) {
        guard place.names.count < limits.members else {
            throw JSONError(
                .tooLarge, "More than \(limits.members) members surround the entities.", at: scanner.offset - 1)
        }
        guard place.names.insert([UInt8(clamping: place.openObjects)] + name.utf8).inserted else {
            throw JSONError(
                .duplicateName, "The object has the member \(clipped(name)) twice.",
                at: scanner.offset - 1)
        }
    }

    private mutating func end() throws(JSONError) {
        if place.state == .start { try scanner.skip() }
        try scanner.end()
        try needMore()
        place.state = .done
    }

    /// A page that says that it goes on, and not where, is not the last one.
    private func link(_ value: JSONValue) throws(JSONError) -> String? {
        guard value != .null, value.string == nil else { return value.string }
        throw JSONError(.wrongKind, "There is \(value.kindName) where a link is expected.", at: scanner.offset - 1)
    }

    /// Whether items begin with this member.
    private mutating func enters(_ name: String) throws(JSONError) -> Bool {
        let kind = try scanner.peek()
        if isLegacy, name == "d", place.openObjects == 1, kind == .object {
            try scanner.beginObject()
            place.openObjects += 1
            return false
        }
        let holdsItems = isLegacy && (name == "results" || (name == "d" && place.openObjects == 1)) || name == "value"
        if ServiceErrorReader.names.contains(name), kind != .null {
            serviceError = try scanner.value()
            return false
        }
        if holdsItems, kind == .array {
            guard !place.hasItems else {
                hasSecondCollection = true
                return false
            }
            try enterItems()
            return true
        }
        guard case .control(let control, "") = MemberName(name, version: isLegacy ? .legacy : .current) else {
            try scanner.skip()
            return false
        }
        let value = try scanner.value()
        switch control {
        case "count", "__count": count = value.integer
        case "nextLink", "__next": nextLink = try link(value)
        case "deltaLink", "__delta": deltaLink = try link(value)
        case "context", "metadata": context = value.string
        default: break
        }
        return false
    }
}
