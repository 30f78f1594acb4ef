/// Collects what is found wrong during one reading of documents, and which elements cannot be used because of it.
///
/// A strict log throws what it is given.
final class DefectLog {
    struct Entry {
        let fault: CSDLError
        let element: MarkupElement
        /// The attribute that is left out, if any.
        let attribute: String?
    }

    /// What can be lived with, in the order in which it was found.
    private(set) var tolerated: [Entry] = []
    private(set) var unusable: [ObjectIdentifier: CSDLError] = [:]
    /// Why the first of the unusable elements is unusable: the others may be so because of it.
    private(set) var first: CSDLError?
    private var noted: Set<CSDLError> = []
    private let isStrict: Bool

    init(isStrict: Bool) { self.isStrict = isStrict }

    /// A document of a million defects is not worth a million messages.
    static let most = 1_000

    /// Notes what breaks the standard but leaves a usable model, perhaps without an attribute.
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

    /// Notes that the model has to do without the element.
    func leaveOut(_ element: MarkupElement, because fault: CSDLError) throws(CSDLError) {
        if isStrict || fault.code.endsReading { throw fault }
        if unusable[ObjectIdentifier(element)] == nil { unusable[ObjectIdentifier(element)] = fault }
        first = first ?? fault
    }

    /// Reads an element, or notes that the model has to do without it and returns nil.
    func salvage<T>(_ element: MarkupElement, _ read: () throws(CSDLError) -> T) throws(CSDLError) -> T? {
        do throws(CSDLError) { return try read() } catch {
            try leaveOut(element, because: error)
            return nil
        }
    }

    /// Notes that two declarations have one name. Of two that say the same one is left out. Otherwise both are, since the
    /// document does not say which one the service means.
    func refuse(_ second: MarkupElement, asAnother first: MarkupElement, _ message: String) throws(CSDLError) {
        try leaveOut(second, because: CSDLError(.duplicateName, message, at: second))
        guard !first.saysTheSame(as: second) else { return }
        let message = "The \(first.label) is declared again, and otherwise, in \(second.place)."
        try leaveOut(first, because: CSDLError(.duplicateName, message, at: first))
    }

    func isUnusable(_ element: MarkupElement) -> Bool { unusable[ObjectIdentifier(element)] != nil }
}

extension CSDLError.Code {
    /// Whether nothing of the document can be used: it is no metadata, or more than the limits allow.
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
    /// Whether the elements are equal but for their places. Cost: the length of what is equal.
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
