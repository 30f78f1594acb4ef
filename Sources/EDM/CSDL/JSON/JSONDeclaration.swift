/// The members of a CSDL JSON object by category.
struct JSONDeclaration {
    /// Control members such as `$Type`, without the dollar sign.
    private var controls: [String: LocatedJSON] = [:]
    /// Annotations such as `@Core.Description`, without the at sign.
    private(set) var annotations: [LocatedJSON.Member] = []
    /// The declared or listed members, in order.
    private(set) var named: [LocatedJSON.Member] = []
    /// The annotations of members that are not objects, such as `Name@Core.Description`, by member name.
    private var memberAnnotations: [String: [LocatedJSON.Member]] = [:]
    /// The reason why the object is invalid.
    private(set) var flaw: String?

    init(_ value: LocatedJSON) {
        guard let members = value.members else {
            flaw = "Expected an object, not \(value.kindName)."
            return
        }
        for member in members { take(member) }
    }

    private mutating func take(_ member: LocatedJSON.Member) {
        if let at = member.name.firstIndex(of: "@") {
            let annotation = LocatedJSON.Member(
                name: String(member.name[member.name.index(after: at)...]), value: member.value)
            if at == member.name.startIndex {
                annotations.append(annotation)
            } else {
                memberAnnotations[String(member.name[..<at]), default: []].append(annotation)
            }
        } else if member.name.hasPrefix("$") {
            if controls.updateValue(member.value, forKey: String(member.name.dropFirst())) != nil {
                flaw = flaw ?? "The object contains the member \(clipped(member.name)) twice."
            }
        } else {
            named.append(member)
        }
    }

    subscript(control: String) -> LocatedJSON? { controls[control] }

    func annotations(of member: String) -> [LocatedJSON.Member] { memberAnnotations[member] ?? [] }

    /// The names of the control members, in ascending order.
    var controlNames: [String] { controls.keys.sorted() }
}

/// A CSDL XML element under construction.
struct JSONElement {
    private let name: String
    private let place: LocatedJSON
    private let origin: MarkupOrigin
    private let vocabulary: MarkupElement.Vocabulary
    private var attributes: [MarkupElement.Attribute] = []
    private var children: [MarkupElement] = []
    private(set) var flaw: String?
    var text = ""

    init(
        _ name: String, at place: LocatedJSON, _ origin: MarkupOrigin, vocabulary: MarkupElement.Vocabulary = .edm
    ) {
        self.name = name
        self.place = place
        self.origin = origin
        self.vocabulary = vocabulary
    }

    mutating func set(_ attribute: String, _ value: String?) {
        guard let value else { return }
        attributes.append(.init(name: attribute, prefix: nil, namespace: nil, value: value))
    }

    /// Sets an attribute from a JSON value.
    mutating func set(_ attribute: String, _ value: LocatedJSON?) {
        guard let value else { return }
        guard let text = value.text else {
            mark("$\(attribute) is \(value.kindName).")
            return
        }
        set(attribute, text)
    }

    mutating func append(_ child: MarkupElement) { children.append(child) }

    /// Marks the element as unusable. The first reason is kept.
    mutating func mark(_ reason: String?) { flaw = flaw ?? reason }

    var element: MarkupElement {
        let element = MarkupElement(
            name: name, namespace: vocabulary == .edm ? MarkupNamespace.edm : MarkupNamespace.edmx,
            vocabulary: vocabulary, attributes: attributes, line: place.line, column: place.column, origin: origin,
            flaw: flaw)
        for child in children { element.append(child) }
        element.append(text: text)
        return element
    }
}
