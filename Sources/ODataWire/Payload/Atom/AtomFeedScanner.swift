internal import EDM

/// Reads a page in Atom item by item, as ``FeedScanner`` does for JSON.
///
/// Entries are parsed in small groups, each with the start tag of the feed. The rest of the feed is parsed at the end.
struct AtomFeedScanner: Sendable {
    private(set) var head = AtomConverter.FeedHead()

    private var splitter: AtomSplitter
    private let limits: JSONScanner.Limits
    private let onlyChecks: Bool
    private var chunk: [UInt8] = []
    private var offset = 0
    private var isWhole = false
    private var isRead = false
    /// Complete entries that are not parsed yet.
    private var group: [UInt8] = []
    private var groupCount = 0
    /// The number of items before the group.
    private var passed = 0
    private var items: [FeedScanner.Item] = []
    private var nextItem = 0

    /// The size of a group of entries, well above that of the start tag which is parsed along with it.
    private static let groupSize = 32 << 10
    /// The largest entry. libxml2 does not look ahead farther than 10 MB.
    private static let itemLimit = 8 << 20

    init(limits: JSONScanner.Limits, onlyChecks: Bool) {
        self.limits = limits
        self.onlyChecks = onlyChecks
        splitter = AtomSplitter(
            itemLimit: min(limits.itemSize, Self.itemLimit), skeletonLimit: min(limits.itemSize, Self.itemLimit))
    }

    mutating func append(_ bytes: [UInt8]) {
        chunk = offset < chunk.count ? Array(chunk[offset...]) + bytes : bytes
        offset = 0
    }

    mutating func finish() { isWhole = true }

    /// Returns the next item, or nil if it requires more bytes or if a complete page has no more items.
    mutating func next() throws(PayloadError) -> FeedScanner.Item? {
        while true {
            if nextItem < items.count {
                defer { nextItem += 1 }
                return items[nextItem]
            }
            (items, nextItem) = ([], 0)
            guard !isRead else { return nil }
            if let piece = try splitter.next(in: chunk, from: &offset) {
                try take(piece)
            } else if isWhole {
                try readGroup()
                try readRest()
                isRead = true
            } else {
                return nil
            }
        }
    }

    private mutating func take(_ piece: AtomSplitter.Piece) throws(PayloadError) {
        switch piece {
        case .item(let bytes):
            group += bytes
            groupCount += 1
            if group.count >= Self.groupSize { try readGroup() }
        case .oversized:
            try readGroup()
            let skipped = FeedScanner.OversizedItem(
                message: "It is larger than \(min(limits.itemSize, Self.itemLimit)) bytes.",
                skimmer: ItemSkipper(limits))
            items.append(onlyChecks ? .checked : .oversized(skipped))
            passed += 1
        }
    }

    private mutating func readGroup() throws(PayloadError) {
        guard groupCount > 0 else { return }
        let root = try AtomConverter.parse(splitter.head + group + splitter.tail, limits)
        for item in try AtomConverter().items(of: root, AtomBase(), first: passed) {
            items.append(onlyChecks ? .checked : .value(item))
        }
        passed += groupCount
        (group, groupCount) = ([], 0)
    }

    private mutating func readRest() throws(PayloadError) {
        try splitter.finish()
        let root = try AtomConverter.parse(splitter.skeleton, limits)
        guard root.namespace == AtomNames.atom, root.name == "feed" else {
            if root.namespace == AtomNames.metadata, root.name == "error" { throw AtomConverter.failure(root) }
            throw PayloadError(
                .unexpectedShape, "The root element of the XML document is \(clipped(root.name)), not feed.")
        }
        head = try AtomConverter().head(of: root, AtomBase())
    }
}

extension AtomConverter {
    /// Parses a document within the limits of payloads.
    static func parse(_ bytes: [UInt8], _ limits: JSONScanner.Limits) throws(PayloadError) -> MarkupElement {
        do throws(CSDLError) {
            return try MarkupDocument.parse(bytes, size: limits.size, elements: limits.elements)
        } catch {
            let isExcess = error.code == .tooLarge || error.code == .tooDeep
            throw PayloadError(isExcess ? .tooLarge : .malformedXML, error.message)
        }
    }
}
