public import EDM

/// Reads a page of a collection item by item, in the shape of any version and without a model.
///
/// Holds one item at a time, so that a page may be larger than memory would like. What surrounds the items, the count and
/// the links, may stand before or behind them: it is complete once ``next()`` has given nil.
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
    private var openObjects = 0
    private var state = State.start
    private var hasItems = false
    private var index = 0

    private enum State { case start, items, around, done }

    public init(_ bytes: [UInt8], version: ODataVersion, limits: JSONScanner.Limits = .init()) throws(PayloadError) {
        do { scanner = try JSONScanner(bytes, limits: limits) } catch { throw PayloadError(error) }
        isLegacy = version.isLegacy
    }

    /// The next item; nil, for good, behind the last one.
    public mutating func next() throws(PayloadError) -> JSONValue? {
        do {
            if state == .start { try start() }
            while true {
                switch state {
                case .items:
                    if try scanner.nextItem() {
                        index += 1
                        return try scanner.value()
                    }
                    state = .around
                case .around: try around()
                case .start, .done:
                    guard hasItems else {
                        throw PayloadError(.unexpectedShape, "The payload holds no collection of entities.")
                    }
                    return nil
                }
            }
        } catch let error as JSONError {
            throw PayloadError(error)
        } catch let error as PayloadError {
            throw error
        } catch {
            throw PayloadError(.malformedJSON, "\(error)")
        }
    }

    /// Where the item that ``next()`` gave last stands, for messages.
    var itemStep: Int { max(0, index - 1) }

    private mutating func start() throws(JSONError) {
        switch try scanner.peek() {
        case .array where isLegacy: try enterItems()
        case .object:
            try scanner.beginObject()
            openObjects = 1
            state = .around
        default: try end()
        }
    }

    private mutating func enterItems() throws(JSONError) {
        try scanner.beginArray()
        hasItems = true
        state = .items
    }

    /// Reads members until items begin or the document ends.
    private mutating func around() throws(JSONError) {
        while openObjects > 0 {
            while let name = try scanner.nextName() {
                if try enters(name) { return }
            }
            openObjects -= 1
        }
        try end()
    }

    private mutating func end() throws(JSONError) {
        if state == .start { try scanner.skip() }
        try scanner.end()
        state = .done
    }

    /// Whether items begin with this member.
    private mutating func enters(_ name: String) throws(JSONError) -> Bool {
        let kind = try scanner.peek()
        if isLegacy, name == "d", openObjects == 1, kind == .object {
            try scanner.beginObject()
            openObjects += 1
            return false
        }
        let holdsItems = isLegacy && (name == "results" || (name == "d" && openObjects == 1)) || name == "value"
        if holdsItems, kind == .array {
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
        case "nextLink", "__next": nextLink = value.string
        case "deltaLink", "__delta": deltaLink = value.string
        case "context", "metadata": context = value.string
        default: break
        }
        return false
    }
}
