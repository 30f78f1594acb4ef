import CLibXML2

/// Reads XML into a bounded tree of elements.
///
/// libxml2 does the parsing. A DOCTYPE is refused, so there are no entities except the five of XML; nothing is ever
/// fetched; depth and number of elements are counted while reading, so that parsing a hostile document ends early.
struct MarkupParser {
    let limits: CSDLReader.Limits
    var origin = MarkupOrigin()
    /// Whether text that consists of white space is content. In metadata it is layout.
    var keepsWhiteSpace = false
    /// Returns why a document with that root is not acceptable, or `nil` if it may be.
    var refusal: @Sendable (MarkupElement) -> CSDLError? = { MetadataDocument.refusal(of: $0) }

    func parse(_ bytes: [UInt8]) throws(CSDLError) -> MarkupElement {
        guard bytes.count <= limits.bytes else {
            throw CSDLError(
                .tooLarge, "The document has \(bytes.count) bytes, the limit is \(limits.bytes).", line: 1, column: 1)
        }
        try refuseWhatIsNoXML(bytes)
        try refuseAttributeFloods(bytes)

        let state = MarkupTreeState(
            limits: limits, origin: origin, keepsWhiteSpace: keepsWhiteSpace, refusal: refusal)
        Self.run(bytes, state)
        if let failure = state.failure { throw failure }
        guard let root = state.root else {
            throw CSDLError(.notMetadata, "The document has no element.", line: 1, column: 1)
        }
        return root
    }

    /// Throws a specific error if the bytes are not XML, because libxml2 would only report a missing `<`.
    private func refuseWhatIsNoXML(_ bytes: [UInt8]) throws(CSDLError) {
        var line = 1
        var column = 1
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        for byte in bytes[start...] {
            switch byte {
            case 0x0A:
                line += 1
                column = 1
            case let space where space.isXMLSpace: column += 1
            case UInt8(ascii: "["):
                throw CSDLError(
                    .notMetadata, "The document is a JSON array; metadata is an object.", line: line, column: column)
            // A `<`, or the beginning of UTF-16.
            case UInt8(ascii: "<"), 0xFE, 0xFF, 0x00: return
            default:
                throw CSDLError(
                    .notMetadata, "The document does not begin with an XML element.", line: line, column: column)
            }
        }
        throw CSDLError(.notMetadata, "The document is empty.", line: line, column: column)
    }

    /// Throws if an element has too many attributes. libxml2 compares each pair of attributes, so the check precedes
    /// parsing.
    private func refuseAttributeFloods(_ bytes: [UInt8]) throws(CSDLError) {
        if let line = AttributeCount(limit: limits.attributes).excess(in: bytes) {
            throw CSDLError(
                .tooLarge, "An element has more than \(limits.attributes) attributes.", line: line, column: 1)
        }
    }

    private static let initialize: Void = xmlInitParser()

    private static func run(_ bytes: [UInt8], _ state: MarkupTreeState) {
        _ = initialize
        var callbacks = self.callbacks
        let opaque = Unmanaged.passUnretained(state).toOpaque()
        guard let context = xmlCreatePushParserCtxt(&callbacks, opaque, nil, 0, nil) else {
            state.fail(.tooLarge, "The document cannot be parsed: out of memory.", line: 1, column: 1)
            return
        }
        defer { xmlFreeParserCtxt(context) }
        state.context = context
        defer { state.context = nil }
        // Without NOENT, an ampersand in an attribute would be returned as `&#38;`. The document cannot declare
        // entities.
        _ = xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))

        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count, state.failure == nil {
                let count = min(chunk, buffer.count - offset)
                let piece = buffer.baseAddress.map { $0.advanced(by: offset).assumingMemoryBound(to: CChar.self) }
                let code = xmlParseChunk(context, piece, Int32(count), 0)
                if code != 0 { state.failAnyhow(code) }
                offset += count
            }
        }
        guard state.failure == nil else { return }
        let code = xmlParseChunk(context, nil, 0, 1)
        if code != 0 { state.failAnyhow(code) }
    }

    private static let chunk = 1 << 20

    private static var callbacks: xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.internalSubset = { context, name, _, _ in MarkupTreeState.from(context)?.refuseDoctype(name) }
        handler.startElementNs = { context, name, _, namespace, namespaces, _, count, _, attributes in
            MarkupTreeState.from(context)?
                .start(name, namespace, namespaces: Int(namespaces), attributes, Int(count))
        }
        handler.endElementNs = { context, _, _, _ in MarkupTreeState.from(context)?.end() }
        handler.characters = { context, text, count in MarkupTreeState.from(context)?.text(text, Int(count)) }
        handler.cdataBlock = { context, text, count in MarkupTreeState.from(context)?.text(text, Int(count)) }
        handler.serror = { context, error in
            guard let state = MarkupTreeState.from(context), let error else { return }
            state.report(
                level: error.pointee.level, message: error.pointee.message, line: Int(error.pointee.line),
                column: Int(error.pointee.int2))
        }
        return handler
    }
}
