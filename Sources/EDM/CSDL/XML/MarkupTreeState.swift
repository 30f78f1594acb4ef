import CLibXML2

/// The state shared by the callbacks of one parser run.
final class MarkupTreeState {
    private(set) var root: MarkupElement?
    private(set) var failure: CSDLError?
    var context: xmlParserCtxtPtr?

    private let limits: CSDLReader.Limits
    private let origin: MarkupOrigin
    private let keepsWhiteSpace: Bool
    private let refusal: @Sendable (MarkupElement) -> CSDLError?
    private var open: [MarkupElement] = []
    /// The number of namespaces that each open element declares. libxml2 looks up a prefix by linear search.
    private var declared: [Int] = []
    private var inScope = 0
    private var elements = 0
    private var schemas = 0
    /// Cached strings by address. libxml2 interns names per document.
    private var names: [UnsafePointer<xmlChar>: String] = [:]
    private var vocabularies: [UnsafePointer<xmlChar>: MarkupElement.Vocabulary] = [:]

    init(
        limits: CSDLReader.Limits, origin: MarkupOrigin, keepsWhiteSpace: Bool,
        refusal: @escaping @Sendable (MarkupElement) -> CSDLError?
    ) {
        self.limits = limits
        self.origin = origin
        self.keepsWhiteSpace = keepsWhiteSpace
        self.refusal = refusal
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> MarkupTreeState? {
        context.map { Unmanaged<MarkupTreeState>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Failing

    /// Records a failure and stops parsing. The first failure is kept; later ones usually follow from it.
    func fail(_ code: CSDLError.Code, _ message: String, line: Int, column: Int) {
        if failure == nil { failure = CSDLError(code, message, line: max(1, line), column: max(1, column)) }
        if let context { xmlStopParser(context) }
    }

    func refuseDoctype(_ name: UnsafePointer<xmlChar>?) {
        let place = tagStart()
        if let name, String(cString: name).lowercased() == "html" {
            fail(.notMetadata, MetadataDocument.webPage, line: place.line, column: place.column)
            return
        }
        fail(
            .doctypeRefused, "The document has a DOCTYPE, which is not allowed.", line: place.line, column: place.column
        )
    }

    /// Records an error of the XML parser. Warnings are ignored; an undeclared prefix, which the parser tolerates, is
    /// an error.
    func report(level: xmlErrorLevel, message: UnsafePointer<CChar>?, line: Int, column: Int) {
        guard level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        let said = message.map { String(String(cString: $0).trimmed) } ?? "no reason given"
        fail(.malformedXML, "The document is not well-formed XML: \(said).", line: line, column: column)
    }

    /// Records an error that the parser did not report.
    func failAnyhow(_ code: Int32) {
        let input = context?.pointee.input?.pointee
        fail(
            .malformedXML, "The document is not well-formed XML (error \(code) of libxml2).",
            line: Int(input?.line ?? 1), column: Int(input?.col ?? 1))
    }

    // MARK: Building

    func start(
        _ name: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?, namespaces: Int,
        _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) {
        guard failure == nil, let name else { return }
        let place = tagStart()
        elements += 1
        declared.append(namespaces)
        inScope += namespaces
        if let (code, message) = excess {
            fail(code, message, line: place.line, column: place.column)
            return
        }
        let vocabulary = namespace.map(vocabulary) ?? .foreign
        var origin = open.last?.origin ?? origin
        if vocabulary == .edm, intern(name) == "Schema" {
            schemas += 1
            origin = origin.inSchema(schemas)
        }
        let element = MarkupElement(
            name: intern(name), namespace: namespace.map(intern), vocabulary: vocabulary,
            attributes: read(attributes, count), line: place.line, column: place.column, origin: origin)
        if let parent = open.last {
            parent.append(element)
        } else {
            root = element
            if let error = refusal(element) {
                fail(error.code, error.message, line: error.line, column: error.column)
            }
        }
        open.append(element)
    }

    /// The limit that the current element exceeds.
    private var excess: (CSDLError.Code, String)? {
        if elements > limits.elements {
            return (.tooLarge, "The document has more than \(limits.elements) elements.")
        }
        if open.count >= limits.depth {
            return (.tooDeep, "Elements are nested more than \(limits.depth) deep.")
        }
        if inScope > limits.namespaces {
            return (.tooLarge, "More than \(limits.namespaces) namespaces are declared for one element.")
        }
        return nil
    }

    func end() {
        guard failure == nil else { return }
        _ = open.popLast()
        inScope -= declared.popLast() ?? 0
    }

    /// Appends text. White space between elements is layout; within the constant of a `String` it is content.
    func text(_ text: UnsafePointer<xmlChar>?, _ count: Int) {
        guard failure == nil, let text, count > 0, let element = open.last else { return }
        let bytes = UnsafeBufferPointer(start: text, count: count)
        if element.text.isEmpty, !keepsWhiteSpace, element.name != "String", bytes.allSatisfy(\.isXMLSpace) { return }
        element.append(text: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads the attributes. libxml2 passes five pointers per attribute: name, prefix, namespace, start and end of
    /// the value.
    private func read(
        _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) -> [MarkupElement.Attribute] {
        guard let attributes, count > 0 else { return [] }
        var result: [MarkupElement.Attribute] = []
        result.reserveCapacity(count)
        for index in 0..<count {
            let fields = attributes + index * 5
            guard let name = fields[0], let start = fields[3], let end = fields[4], end >= start else { continue }
            result.append(
                MarkupElement.Attribute(
                    name: intern(name), prefix: fields[1].map(intern), namespace: fields[2].map(intern),
                    value: String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)))
        }
        return result
    }

    private func intern(_ name: UnsafePointer<xmlChar>) -> String {
        if let known = names[name] { return known }
        let text = String(cString: name)
        names[name] = text
        return text
    }

    private func vocabulary(_ namespace: UnsafePointer<xmlChar>) -> MarkupElement.Vocabulary {
        if let known = vocabularies[namespace] { return known }
        let vocabulary = MarkupElement.Vocabulary(namespace: intern(namespace))
        vocabularies[namespace] = vocabulary
        return vocabulary
    }

    /// Returns the start of the current tag: the parser is at its end, and a tag contains no second `<`.
    private func tagStart() -> (line: Int, column: Int) {
        guard let input = context?.pointee.input?.pointee, var cursor = input.cur, let base = input.base else {
            return (1, 1)
        }
        var line = Int(input.line)
        var column = Int(input.col)
        var isSameLine = true
        while cursor > base, cursor.pointee != UInt8(ascii: "<") || cursor == input.cur {
            cursor -= 1
            if cursor.pointee == 0x0A {
                line -= 1
                isSameLine = false
            } else if cursor.pointee & 0xC0 != 0x80 {
                column -= 1
            }
        }
        if !isSameLine {
            column = 1
            // Bounded, because an exact column is not needed in a line of a million characters.
            while cursor > base, column < 4096 {
                cursor -= 1
                if cursor.pointee == 0x0A { break }
                column += 1
            }
        }
        return (max(1, line), max(1, column))
    }
}
