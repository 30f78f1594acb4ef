/// Collects the defects found during one reading of documents, and the elements that are unusable because of them.
///
/// A strict log throws each defect.
final class DefectLog {
    struct Entry {
        let fault: CSDLError
        let element: MarkupElement
        /// The attribute that is omitted, if any.
        let attribute: String?
    }

    /// The tolerated defects, in the order in which they were found.
    private(set) var tolerated: [Entry] = []
    private(set) var unusable: [ObjectIdentifier: CSDLError] = [:]
    /// The reason why the first unusable element is unusable. Other elements may be unusable as a consequence.
    private(set) var first: CSDLError?
    private var noted: Set<CSDLError> = []
    private let isStrict: Bool

    init(isStrict: Bool) { self.isStrict = isStrict }

    /// The maximum number of reported defects per document.
    static let most = 1_000

    /// Records a violation of the standard that leaves a usable model, possibly without an attribute.
    func tolerate(
        _ code: CSDLError.Code, _ message: String, at element: MarkupElement, leavingOut attribute: String? = nil
    ) throws(CSDLError) {
        try tolerate(CSDLError(code, message, at: element), at: element, leavingOut: attribute)
    }

    func tolerate(
        _ fault: CSDLError, at element: MarkupElement, leavingOut attribute: String?
    ) throws(CSDLError) {
        if isStrict || fault.code.endsReading { throw fault }
        guard tolerated.count < Self.most, noted.insert(fault).inserted else { return }
        tolerated.append(Entry(fault: fault, element: element, attribute: attribute))
    }

    /// Records that the model omits the element.
    func leaveOut(_ element: MarkupElement, because fault: CSDLError) throws(CSDLError) {
        if isStrict || fault.code.endsReading { throw fault }
        if unusable[ObjectIdentifier(element)] == nil { unusable[ObjectIdentifier(element)] = fault }
        first = first ?? fault
    }

    /// Reads an element. If it cannot be read, records that the model omits it and returns `nil`.
    func salvage<T>(_ element: MarkupElement, _ read: () throws(CSDLError) -> T) throws(CSDLError) -> T? {
        do throws(CSDLError) { return try read() } catch {
            try leaveOut(element, because: error)
            return nil
        }
    }

    /// Records that two declarations have the same name. If they are equal, one is omitted, otherwise both, because
    /// the document does not define which one applies.
    func refuse(_ second: MarkupElement, asAnother first: MarkupElement, _ message: String) throws(CSDLError) {
        try leaveOut(second, because: CSDLError(.duplicateName, message, at: second))
        guard !first.saysTheSame(as: second) else { return }
        let message = "The \(first.label) is declared again, with another definition, in \(second.place)."
        try leaveOut(first, because: CSDLError(.duplicateName, message, at: first))
    }

    func isUnusable(_ element: MarkupElement) -> Bool { unusable[ObjectIdentifier(element)] != nil }
}

extension CSDLError.Code {
    /// Whether the error makes the whole document unusable: it is not metadata, or it exceeds the limits.
    var endsReading: Bool {
        switch self {
        case .malformedXML, .malformedJSON, .doctypeRefused, .tooDeep, .tooLarge, .notMetadata, .unknownVersion,
            .caseConflict:
            true
        default: false
        }
    }
}

extension MarkupElement {
    /// Whether the elements are equal except for their locations. Cost: proportional to the equal part.
    fileprivate func saysTheSame(as other: MarkupElement) -> Bool {
        var open = [(self, other)]
        while let (a, b) = open.popLast() {
            guard a.name == b.name, a.namespace == b.namespace, a.text == b.text, a.attributes == b.attributes,
                a.children.count == b.children.count
            else { return false }
            open += zip(a.children, b.children)
        }
        return true
    }
}
