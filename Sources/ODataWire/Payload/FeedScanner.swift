package import EDM

/// Reads a page of a collection item by item, in the format of any version and without a model.
///
/// A page of V2 or V3 that is XML is read as Atom; its items are converted to the JSON of the same
/// version, in which all values are texts.
///
/// It stores one item at a time; for a page that arrives in chunks, at most one item and one chunk. The count and the
/// links may precede or follow the items: they are complete after ``next()`` has returned nil for a complete page.
package struct FeedScanner: Sendable {
    /// The value of `@odata.count` or `__count`.
    package private(set) var count: Int64?
    /// The value of `@odata.nextLink` or `__next`.
    package private(set) var nextLink: String?
    /// The value of `@odata.deltaLink` or `__delta`.
    package private(set) var deltaLink: String?
    /// The context URL of V4.
    package private(set) var context: String?

    private var scanner: JSONScanner
    /// The scanner that replaces ``scanner``, if the page is XML.
    private var markup: AtomFeedScanner?
    private let isLegacy: Bool
    private let limits: JSONScanner.Limits
    private var place = PagePosition()

    /// Whether all bytes have been passed.
    private var isWhole: Bool
    /// The number of bytes that have been discarded.
    private var dropped = 0
    /// The number of unread bytes that are necessary before an incomplete item is read again.
    private var wanted = 0

    /// The error that the service reports inside of the page, which makes the whole page invalid.
    private var serviceError: JSONValue?
    private var hasSecondCollection = false
    /// The state while an oversized item is skipped.
    private var skimmer: ItemSkipper?
    /// The reason why the item is skipped.
    private var excess: JSONError?
    /// The start of the current item.
    private var itemMark: JSONScanner.Mark?

    private enum PagePhase { case start, items, around, done }

    private struct PagePosition {
        var state = PagePhase.start
        var openObjects = 0
        var hasItems = false
        var index = 0
        /// The names of the members around the items, each prefixed with its nesting depth.
        var names: Set<[UInt8]> = []
    }

    /// Creates a scanner for a complete page.
    package init(_ bytes: [UInt8], version: ODataVersion, limits: JSONScanner.Limits = .init()) throws(PayloadError) {
        self.init(version: version, limits: limits)
        guard bytes.count <= limits.size else { throw Self.tooLarge(limits) }
        append(bytes)
        finish()
    }

    /// Creates a scanner for a page that is passed in chunks with ``append(_:)`` and ``finish()``.
    package init(version: ODataVersion, limits: JSONScanner.Limits = .init()) {
        scanner = JSONScanner(limits: limits)
        scanner.checksNames = true
        isLegacy = version.isLegacy
        isWhole = false
        self.limits = limits
    }

    /// Appends the next bytes of the page. To be called after ``next()`` has returned nil.
    package mutating func append(_ chunk: [UInt8]) {
        guard markup == nil else {
            dropped += chunk.count
            markup?.append(chunk)
            return
        }
        dropped += scanner.append(chunk)
    }

    /// Declares the page complete. ``next()`` then continues to the last item, or throws if the page is truncated.
    package mutating func finish() {
        isWhole = true
        markup?.finish()
    }

    /// Whether the page is XML.
    package var isMarkup: Bool { markup != nil }

    /// Returns the next item, or nil if it requires more bytes or if a complete page has no more items.
    ///
    /// Results and errors do not depend on the division into chunks, except that a page that exceeds the size limit is
    /// read up to the limit. Reading a page takes time proportional to its size, even for small chunks.
    package mutating func next() throws(PayloadError) -> JSONValue? {
        switch try nextItem() {
        case .value(let value): return value
        case .damaged(_, let error): throw PayloadError(error)
        case .oversized(let item): throw PayloadError(.tooLarge, item.message, path: "/\(itemStep)")
        // Rows are returned only to a caller that has declared their columns.
        case .checked, .row, nil: return nil
        }
    }

    /// An item of the page: a value, or a row if it has the columns that ``rows`` has learned.
    enum Item {
        /// The item was only checked; see ``onlyChecks``.
        case checked
        case value(JSONValue)
        case row(EntityPayload)
        /// A value with an invalid string, in which replacement characters stand for the invalid parts.
        case damaged(JSONValue, JSONError)
        /// The item exceeds the limits.
        case oversized(OversizedItem)
    }

    /// The known parts of an item that was skipped because it exceeds the limits.
    struct OversizedItem {
        /// The reason, as one sentence.
        var message: String
        var skimmer: ItemSkipper
    }

    /// Whether items are only checked to be valid JSON and skipped.
    var onlyChecks = false

    /// A reader for rows that have the same columns as the preceding one.
    var rows = RowReader()

    /// Returns the next item, like ``next()``.
    mutating func nextItem() throws(PayloadError) -> Item? {
        guard dropped + scanner.bytes.count <= limits.size else { throw Self.tooLarge(limits) }
        if isLegacy, place.state == .start, markup == nil, XMLText.begins(scanner.bytes) { beginMarkup() }
        if markup != nil { return try nextEntry() }
        if skimmer != nil { return try skim() }
        guard isWhole || scanner.unread >= wanted else { return nil }
        let (before, mark) = (place, scanner.mark)
        let item: Item?
        do { item = try step() } catch {
            if isExcess(error) { return try beginSkimming(error) }
            guard !isWhole, error.offset + Self.farthestLook > scanner.bytes.count else { throw located(error) }
            place = before
            scanner.rewind(to: mark)
            scanner.endItem()
            guard scanner.unread <= Self.gapLimit(limits) else {
                throw PayloadError(
                    .tooLarge, "The payload outside the entities has more than \(limits.itemSize) bytes.")
            }
            wanted = min(2 * scanner.unread, Self.gapLimit(limits))
            return nil
        }
        wanted = 0
        if let serviceError { throw .inStream(serviceError) }
        if hasSecondCollection {
            throw PayloadError(.unexpectedShape, "The payload contains two collections of entities.")
        }
        guard item != nil || place.hasItems else {
            throw PayloadError(.unexpectedShape, "The payload contains no collection of entities.")
        }
        return item
    }

    /// The minimum distance of an error from the end of the bytes at which more bytes cannot resolve it.
    ///
    /// The longest lookahead is that of the two escapes of a surrogate pair.
    private static let farthestLook = 12

    private func located(_ error: JSONError) -> PayloadError {
        PayloadError(JSONError(error.code, error.message, at: dropped + error.offset))
    }

    // MARK: Atom

    /// Continues with a scanner for XML.
    private mutating func beginMarkup() {
        var atom = AtomFeedScanner(limits: limits, onlyChecks: onlyChecks)
        atom.append(scanner.bytes)
        if isWhole { atom.finish() }
        dropped += scanner.bytes.count
        scanner = JSONScanner(limits: limits)
        markup = atom
    }

    private mutating func nextEntry() throws(PayloadError) -> Item? {
        if let item = try markup?.next() ?? nil {
            place.index += 1
            return item
        }
        (count, nextLink, deltaLink) = (markup?.head.count, markup?.head.nextLink, markup?.head.deltaLink)
        return nil
    }

    // MARK: Items that are too large

    /// Returns the maximum number of unread bytes of valid content: an item, and the bytes before it.
    private static func gapLimit(_ limits: JSONScanner.Limits) -> Int {
        let (limit, overflows) = limits.itemSize.addingReportingOverflow(1 << 16)
        return overflows ? .max : limit
    }

    /// Returns whether the current item exceeds its size limit, even if it has a different error after the limit.
    private func isExcess(_ error: JSONError) -> Bool {
        place.state == .items && scanner.itemEnd < .max && (error.code == .tooLarge || error.offset > scanner.itemEnd)
    }

    /// Begins to skip the current item.
    private mutating func beginSkimming(_ error: JSONError) throws(PayloadError) -> Item? {
        if let itemMark { scanner.rewind(to: itemMark) }
        scanner.endItem()
        wanted = 0
        skimmer = ItemSkipper(limits)
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

    /// Throws an error that makes ``next()`` wait for more bytes, unless the page is complete.
    private func needMore() throws(JSONError) {
        guard isWhole else {
            throw JSONError(.truncated, "The document ends too early.", at: scanner.bytes.count)
        }
    }

    /// The index of the item that ``next()`` returned last, for messages.
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

    /// Reads members until the items begin or the document ends.
    private mutating func around() throws(JSONError) {
        while place.openObjects > 0 {
            while let name = try scanner.nextName() {
                try addName(name)
                if try enters(name) { return }
                if serviceError != nil || hasSecondCollection { return place.state = .done }
            }
            place.openObjects -= 1
        }
        try end()
    }

    private mutating func addName(_ name: String) throws(JSONError) {
        guard place.names.count < limits.members else {
            throw JSONError(
                .tooLarge, "The payload has more than \(limits.members) members outside the entities.",
                at: scanner.offset - 1)
        }
        guard place.names.insert([UInt8(clamping: place.openObjects)] + name.utf8).inserted else {
            throw JSONError(
                .duplicateName, "The object contains the member \(clipped(name)) twice.",
                at: scanner.offset - 1)
        }
    }

    private mutating func end() throws(JSONError) {
        if place.state == .start { try scanner.skip() }
        try scanner.end()
        try needMore()
        place.state = .done
    }

    /// Returns a link. Throws if the value is not a string, because such a page must not be taken for the last one.
    private func link(_ value: JSONValue) throws(JSONError) -> String? {
        guard value != .null, value.string == nil else { return value.string }
        throw JSONError(.wrongKind, "Expected a link, not \(value.kindName).", at: scanner.offset - 1)
    }

    /// Reads a member and returns whether the items begin with it.
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
