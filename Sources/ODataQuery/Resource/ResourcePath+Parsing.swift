package import EDM

extension ResourcePath {
    /// Parses a percent-encoded path relative to the service root, with or without a leading slash and without query.
    ///
    /// - Parameters:
    ///   - aliases: The values of parameter aliases from the query.
    ///   - contentIDs: The targets of `$<Content-ID>` as first segment.
    package static func parse(
        _ path: String, model: EntityDataModel, version: ODataVersion, aliases: [QueryOptions.ParameterAlias] = [],
        contentIDs: [String: Target] = [:]
    ) throws(URLSyntaxError) -> ResourcePath {
        guard path.utf8.count <= QueryLimits.length else {
            throw URLSyntaxError(.tooComplex, "The path is longer than \(QueryLimits.length) bytes.", in: "")
        }
        var parser = ResourcePathParser(
            path: path, model: model, version: version, aliases: aliases, contentIDs: contentIDs)
        try parser.run()
        return ResourcePath(segments: parser.segments, target: parser.target)
    }
}

/// Parses a path segment by segment. ``target`` is the target of the path so far and determines the valid next
/// segments.
struct ResourcePathParser {
    let path: String
    let model: EntityDataModel
    let version: ODataVersion
    let aliases: [QueryOptions.ParameterAlias]
    let contentIDs: [String: ResourcePath.Target]

    var segments: [ResourcePath.Segment] = []
    var target: ResourcePath.Target = .serviceDocument
    /// Whether no further segment may follow.
    var isFinal = false
    /// Whether `$links` was parsed, so that a navigation property must follow.
    private var expectsLink = false
    private var queue: [RawSegment] = []
    private var position = 0

    /// A decoded path segment with its position.
    struct RawSegment {
        let text: String
        /// The offset of the encoded segment in the path.
        let offset: Int
    }

    init(
        path: String, model: EntityDataModel, version: ODataVersion, aliases: [QueryOptions.ParameterAlias],
        contentIDs: [String: ResourcePath.Target]
    ) {
        self.path = path
        self.model = model
        self.version = version
        self.aliases = aliases
        self.contentIDs = contentIDs
    }

    func error(_ code: URLSyntaxError.Code, _ message: String) -> URLSyntaxError {
        URLSyntaxError(
            code, message, in: path, at: position > 0 && position <= queue.count ? queue[position - 1].offset : 0)
    }

    mutating func run() throws(URLSyntaxError) {
        queue = try split()
        while position < queue.count {
            let segment = queue[position]
            position += 1
            guard !isFinal else { throw error(.misplacedSegment, "The previous segment must be the last one.") }
            try read(segment.text)
        }
        if expectsLink { throw error(.misplacedSegment, "$links must be followed by a navigation property.") }
    }

    /// Splits the path at slashes, except within `$filter(…)`. One slash at each end of the path is permitted.
    private func split() throws(URLSyntaxError) -> [RawSegment] {
        let bytes = Array(path.utf8)
        var result: [RawSegment] = []
        var start = bytes.first == UInt8(ascii: "/") ? 1 : 0
        while start < bytes.count {
            let end = Self.end(ofSegmentAt: start, in: bytes)
            guard end > start else { throw URLSyntaxError(.unexpectedText, "A segment is empty.", in: path, at: start) }
            let text = try PercentCoding.decode(String(decoding: bytes[start..<end], as: UTF8.self))
            result.append(RawSegment(text: text, offset: start))
            guard result.count <= QueryLimits.height * 2 else {
                throw URLSyntaxError(.tooComplex, "The path has too many segments.", in: path, at: start)
            }
            start = end + 1
        }
        // A second slash after the leading one.
        if bytes.starts(with: "//".utf8) {
            throw URLSyntaxError(.unexpectedText, "A segment is empty.", in: path, at: 1)
        }
        return result
    }

    /// Returns the offset after the segment, which ends at the next slash outside of the parentheses of `$filter`.
    private static func end(ofSegmentAt start: Int, in bytes: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        guard bytes[start...].starts(with: "$filter".utf8) else {
            return bytes[start...].firstIndex(of: slash) ?? bytes.count
        }
        var index = start
        var depth = 0
        var quote: UInt8?
        while index < bytes.count, bytes[index] != slash || depth > 0 {
            let (byte, length) = decodedByte(at: index, in: bytes)
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                if quote == byte { quote = nil } else if quote == nil { quote = byte }
            case UInt8(ascii: "(") where quote == nil: depth += 1
            case UInt8(ascii: ")") where quote == nil: depth -= 1
            default: break
            }
            index += length
        }
        return index
    }

    private static func decodedByte(at index: Int, in bytes: [UInt8]) -> (byte: UInt8, length: Int) {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = bytes[index + 1].hexadecimalDigit, let low = bytes[index + 2].hexadecimalDigit
        else { return (bytes[index], 1) }
        return (high << 4 | low, 3)
    }

    // MARK: One segment

    private mutating func read(_ text: String) throws(URLSyntaxError) {
        if case .unresolved = target, !segments.isEmpty {
            segments.append(.unresolved(text))
            return
        }
        if segments.isEmpty { return try readFirst(text) }
        if segments.last == .each { return try readBehindEach(text) }
        if text.hasPrefix("$") {
            if try readSystem(text) { return }
            throw error(.unknownSegment, "\(text) is unknown or not allowed here.")
        }
        let (name, parentheses) = try nameAndParentheses(text)
        if let name {
            if try readMember(name, parentheses) { return }
            if !expectsLink, try readTypeOrOperation(name, parentheses) { return }
        }
        // Text in the form of a call is never a key.
        if !expectsLink, parentheses == nil, try readKeyOrIndex(text) { return }
        throw unknown(text)
    }

    private mutating func readBehindEach(_ text: String) throws(URLSyntaxError) {
        let (name, parentheses) = try nameAndParentheses(text)
        guard let name, try readTypeOrOperation(name, parentheses), case .operation? = segments.last else {
            throw error(.misplacedSegment, "$each must be followed by an operation.")
        }
    }

    private func unknown(_ text: String) -> URLSyntaxError {
        switch target {
        case .entity(let type, _): error(.unknownProperty, model.missingProperty(text, of: type))
        case .value(let type): error(.unknownProperty, "\(type.name) has no property \(text).")
        default: error(.unknownSegment, "\(text) is not allowed here.")
        }
    }

    /// Returns the name and the parentheses after it, including their content. The name is nil if the text has a
    /// different form.
    func nameAndParentheses(_ text: String) throws(URLSyntaxError) -> (name: String?, parentheses: String?) {
        var cursor = try QueryCursor(text)
        guard let name = cursor.qualifiedName() else { return (nil, nil) }
        if cursor.isAtEnd { return (name, nil) }
        guard cursor.peek() == UInt8(ascii: "("), text.utf8.last == UInt8(ascii: ")") else { return (nil, nil) }
        return (name, String(decoding: cursor.bytes[cursor.offset...], as: UTF8.self))
    }

    /// Applies a key predicate. Does nothing for `()`.
    mutating func applyKey(_ parentheses: String?) throws(URLSyntaxError) {
        guard let parentheses, parentheses != "()" else { return }
        switch target {
        case .entities(let type, let set):
            segments.append(.key(try selector(parentheses, of: type, set?.alternateKeys ?? [])))
            target = .entity(type, in: set)
        case .references(let navigation, let type, isCollection: true):
            segments.append(.key(try selector(parentheses, of: type)))
            target = .references(navigation, type, isCollection: false)
        default:
            throw error(.misplacedSegment, "Only a collection of entities can be followed by a key.")
        }
    }

    /// - Parameter alternateKeys: The alternate keys of the entity's set.
    func selector(
        _ parentheses: String, of type: EntityType, _ alternateKeys: [AlternateKey] = []
    ) throws(URLSyntaxError) -> KeySelector {
        try KeySelector.parse(
            parentheses, of: type, version: version, aliases: aliases, alternateKeys: alternateKeys)
    }

    // MARK: Properties

    /// Parses a declared or dynamic property of the current entity or complex value.
    private mutating func readMember(_ name: String, _ parentheses: String?) throws(URLSyntaxError) -> Bool {
        let owner: StructuredType
        var set: EntitySet?
        switch target {
        case .entity(let type, let home):
            owner = type
            set = home
        case .value(let type) where !type.isCollection:
            guard case .complex(let typeName) = type.kind, let complex = model.findComplexType(typeName) else {
                return false
            }
            owner = complex
        default: return false
        }
        guard let property = owner.findProperty(name) else {
            guard owner.isOpen(to: name), parentheses == nil, !name.utf8.contains(UInt8(ascii: ".")), !expectsLink
            else {
                return false
            }
            segments.append(.dynamicProperty(name))
            target = .value(TypeReference(.primitive(.untyped)))
            return true
        }
        if let navigation = property.navigation {
            try readNavigation(property, navigation, of: owner, from: set, parentheses)
            return true
        }
        guard !expectsLink else { return false }
        guard parentheses == nil else { throw error(.misplacedSegment, "\(name) cannot be followed by a key.") }
        segments.append(.property(property))
        target = .value(property.type)
        return true
    }

    private mutating func readNavigation(
        _ property: Property, _ navigation: Navigation, of owner: StructuredType, from set: EntitySet?,
        _ parentheses: String?
    ) throws(URLSyntaxError) {
        guard let type = model.findEntityType(navigation.targetType) else {
            throw error(.unknownType, "The type \(navigation.targetType) is not in the model.")
        }
        guard parentheses == nil || property.isCollection else {
            throw error(.misplacedSegment, "\(property.name) is single-valued and cannot be followed by a key.")
        }
        let home = set.flatMap { model.target(of: property, in: $0, from: owner) }
        segments.append(.navigation(property))
        if expectsLink {
            expectsLink = false
            target = .references(property, type, isCollection: property.isCollection)
        } else {
            target = property.isCollection ? .entities(type, in: home) : .entity(type, in: home)
        }
        try applyKey(parentheses)
    }

    // MARK: Keys and positions as segments

    private mutating func readKeyOrIndex(_ text: String) throws(URLSyntaxError) -> Bool {
        guard version == .v401 else { return false }
        switch target {
        case .entities(let type, let set):
            let count = KeyPredicate.segmentCount(of: type)
            guard count > 0, position - 1 + count <= queue.count else { return false }
            let values = queue[(position - 1)..<(position - 1 + count)].map(\.text)
            guard let key = KeyPredicate(segments: values, of: type, version: version) else { return false }
            position += count - 1
            segments.append(.key(.key(key)))
            target = .entity(type, in: set)
            return true
        case .value(let type) where type.isCollection:
            guard let index = Int64(text) else { return false }
            segments.append(.index(index))
            target = .value(type.item)
            return true
        default: return false
        }
    }

    /// Begins `$links`, which precedes its navigation property.
    mutating func beginLinks() {
        segments.append(.links)
        expectsLink = true
    }

    var isExpectingLink: Bool { expectsLink }
}
