/// Splits a feed that arrives in chunks into its entries and the document around them.
///
/// It only finds the ends of tags, comments and CDATA sections; the XML parser checks everything else when it reads the
/// pieces. It stores at most one entry and the document around the entries.
struct AtomSplitter: Sendable {
    enum Piece {
        /// The bytes of an entry or of a deleted entry.
        case item([UInt8])
        /// An entry that exceeds the limit.
        case oversized
    }

    /// The document without its entries.
    private(set) var skeleton: [UInt8] = []
    /// The start tag of the root and the XML declaration, with which an entry is a document of its own.
    private(set) var head: [UInt8] = []
    /// The end tag of the root.
    var tail: [UInt8] { Array("</".utf8) + rootName + [UInt8(ascii: ">")] }

    private enum MarkupPosition {
        case text, open, name, tag, quoted(UInt8), closing, bang, comment, characterData, instruction
    }

    private let itemLimit: Int
    private let skeletonLimit: Int
    private var place = MarkupPosition.text
    private var depth = 0
    private var name: [UInt8] = []
    private var rootName: [UInt8] = []
    /// The last two bytes, which determine the ends of constructs.
    private var previous: (UInt8, UInt8) = (0, 0)
    /// Whether a construct has just begun, so that earlier bytes do not count.
    private var isFresh = false
    private var markup: [UInt8] = []
    /// The position of the current tag in the skeleton.
    private var mark = 0
    private var isInItem = false
    private var isSkipping = false
    private var item: [UInt8] = []

    /// The start tag of the root is repeated with each group of entries, so it is short.
    static let headLimit = 8 << 10

    init(itemLimit: Int, skeletonLimit: Int) {
        self.itemLimit = itemLimit
        self.skeletonLimit = skeletonLimit
    }

    /// Continues at `start` up to the end of the next entry, or of the bytes.
    mutating func next(in bytes: [UInt8], from start: inout Int) throws(PayloadError) -> Piece? {
        var index = start
        var run = start
        while index < bytes.count {
            let byte = bytes[index]
            if case .text = place {
                if byte == UInt8(ascii: "<") {
                    if !isInItem {
                        try keep(bytes[run..<index])
                        run = index
                        mark = skeleton.count
                    }
                    place = .open
                }
                index += 1
                continue
            }
            let ending = try advance(byte)
            index += 1
            switch ending {
            case .nothing: break
            case .itemStart:
                // The name decides whether the tag belongs to the document or to an entry.
                try keep(bytes[run..<index])
                run = index
                item = Array(skeleton[mark...])
                skeleton.removeSubrange(mark...)
                isInItem = true
            case .headEnd:
                try keep(bytes[run..<index])
                run = index
                try takeHead()
            case .itemEnd:
                try keep(bytes[run..<index])
                return endItem(&start, index)
            }
        }
        try keep(bytes[run...])
        start = bytes.count
        return nil
    }

    /// Checks that the document is complete. The parser checks the rest.
    func finish() throws(PayloadError) {
        guard case .text = place, depth == 0, !rootName.isEmpty else {
            throw PayloadError(.malformedXML, "The XML document ends too early.")
        }
    }

    private enum Ending { case nothing, itemStart, headEnd, itemEnd }

    private mutating func endItem(_ start: inout Int, _ index: Int) -> Piece {
        start = index
        defer { (isInItem, isSkipping, item) = (false, false, []) }
        return isSkipping ? .oversized : .item(item)
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) throws(PayloadError) {
        guard isInItem else {
            guard skeleton.count + bytes.count <= skeletonLimit else {
                throw PayloadError(.tooLarge, "The feed outside the entries has more than \(skeletonLimit) bytes.")
            }
            skeleton += bytes
            return
        }
        guard !isSkipping, item.count + bytes.count <= itemLimit else {
            (isSkipping, item) = (true, [])
            return
        }
        item += bytes
    }

    private mutating func takeHead() throws(PayloadError) {
        let tag = skeleton[mark...]
        let start = skeleton.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var declaration: ArraySlice<UInt8> = []
        if skeleton[start...].starts(with: Array("<?xml ".utf8)),
            let end = skeleton[start...].firstRange(of: Array("?>".utf8))
        {
            declaration = skeleton[start..<end.upperBound]
        }
        guard declaration.count + tag.count <= Self.headLimit else {
            throw PayloadError(.tooLarge, "The start tag of the feed has more than \(Self.headLimit) bytes.")
        }
        head = Array(declaration + tag)
    }
}

// MARK: Markup

extension AtomSplitter {
    private mutating func advance(_ byte: UInt8) throws(PayloadError) -> Ending {
        defer {
            previous = isFresh ? (0, 0) : (previous.1, byte)
            isFresh = false
        }
        switch place {
        case .text: break
        case .open: open(byte)
        case .name:
            if byte.isNameEnd { return try endName(byte) }
            if !name.isEmpty, name.count < 256 { name.append(byte) }
        case .tag:
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                place = .quoted(byte)
            } else if byte == UInt8(ascii: ">") {
                return endTag(isEmpty: previous.1 == UInt8(ascii: "/"))
            }
        case .quoted(let quote): if byte == quote { place = .tag }
        case .closing:
            guard byte == UInt8(ascii: ">") else { break }
            guard depth > 0 else { throw PayloadError(.malformedXML, "An end tag has no start tag.") }
            return closeElement()
        case .bang: try bang(byte)
        case .comment: if byte == UInt8(ascii: ">"), previous == (0x2D, 0x2D) { place = .text }
        case .characterData: if byte == UInt8(ascii: ">"), previous == (0x5D, 0x5D) { place = .text }
        case .instruction: if byte == UInt8(ascii: ">"), previous.1 == UInt8(ascii: "?") { place = .text }
        }
        return .nothing
    }

    private mutating func open(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "/"): place = .closing
        case UInt8(ascii: "!"): (place, markup) = (.bang, [])
        case UInt8(ascii: "?"): (place, isFresh) = (.instruction, true)
        // Within an entry, names do not matter.
        default: (place, name) = (.name, depth <= 1 && !isInItem ? [byte] : [])
        }
    }

    /// Determines the kind of a construct that begins with `<!`.
    private mutating func bang(_ byte: UInt8) throws(PayloadError) {
        markup.append(byte)
        let (comment, data) = (Array("--".utf8), Array("[CDATA[".utf8))
        if markup == comment {
            (place, isFresh) = (.comment, true)
        } else if markup == data {
            (place, isFresh) = (.characterData, true)
        } else if !comment.starts(with: markup), !data.starts(with: markup) {
            throw PayloadError(.malformedXML, "The XML document has a DOCTYPE, which is not allowed.")
        }
    }

    /// Handles the end of a start tag's name.
    private mutating func endName(_ byte: UInt8) throws(PayloadError) -> Ending {
        let startsItem = depth == 1 && !isInItem && rootIsFeed && Self.items.contains(Self.local(name))
        if depth == 0 {
            guard rootName.isEmpty else { throw PayloadError(.malformedXML, "The XML document has two roots.") }
            rootName = name
        }
        place = .tag
        var ending = Ending.nothing
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            place = .quoted(byte)
        } else if byte == UInt8(ascii: ">") {
            ending = endTag(isEmpty: false)
        }
        return startsItem ? .itemStart : ending
    }

    private mutating func endTag(isEmpty: Bool) -> Ending {
        place = .text
        depth += 1
        if depth == 1 {
            if isEmpty { depth = 0 }
            return .headEnd
        }
        return isEmpty ? closeElement() : .nothing
    }

    private mutating func closeElement() -> Ending {
        place = .text
        depth -= 1
        return isInItem && depth == 1 ? .itemEnd : .nothing
    }

    private static let items: [[UInt8]] = [Array("entry".utf8), Array("deleted-entry".utf8)]

    private var rootIsFeed: Bool { Self.local(rootName) == Array("feed".utf8) }

    private static func local(_ name: [UInt8]) -> [UInt8] {
        name.lastIndex(of: UInt8(ascii: ":")).map { Array(name[($0 + 1)...]) } ?? name
    }
}

extension UInt8 {
    fileprivate var isNameEnd: Bool {
        switch self {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }
}
