/// The members of an object of CSDL JSON, by what they say.
struct JSONDeclaration {
    /// `$Type` and its like, without the dollar sign.
    private var controls: [String: PlacedJSON] = [:]
    /// `@Core.Description`, without the at sign.
    private(set) var annotations: [PlacedJSON.Member] = []
    /// What is declared or listed in the object, in order.
    private(set) var named: [PlacedJSON.Member] = []
    /// `Name@Core.Description`: the annotations of a member that is no object, by its name.
    private var memberAnnotations: [String: [PlacedJSON.Member]] = [:]
    /// Why the object cannot be understood.
    private(set) var flaw: String?

    init(_ value: PlacedJSON) {
        guard let members = value.members else {
            flaw = "There is \(value.kindName), not an object."
            return
        }
        for member in members { take(member) }
    }

    private mutating func take(_ member: PlacedJSON.Member) {
        if let at = member.name.firstIndex(of: "@") {
            let annotation = PlacedJSON.Member(
                name: String(member.name[member.name.index(after: at)...]), value: member.value)
            if at == member.name.startIndex {
                annotations.append(annotation)
            } else {
                memberAnnotations[String(member.name[..<at]), default: []].append(annotation)
            }
        } else if member.name.hasPrefix("$") {
            if controls.updateValue(member.value, forKey: String(member.name.dropFirst())) != nil {
                flaw = flaw ?? "The object has the member \(clipped(member.name)) twice."
            }
        } else {
            named.append(member)
        }
    }

    subscript(control: String) -> PlacedJSON? { controls[control] }

    func annotations(of member: String) -> [PlacedJSON.Member] { memberAnnotations[member] ?? [] }

    /// The names of the controls that are there, in ascending order.
    var controlNames: [String] { controls.keys.sorted() }
}

/// An element of CSDL XML in the making.
struct JSONElement {
    private let name: String
    private let place: PlacedJSON
    private let origin: MarkupOrigin
    private let vocabulary: MarkupElement.Vocabulary
    private var attributes: [MarkupElement.Attribute] = []
    private var children: [MarkupElement] = []
    private(set) var flaw: String?
    var text = ""

    init(
        _ name: String, at place: PlacedJSON, _ origin: MarkupOrigin, vocabulary: MarkupElement.Vocabulary = .edm
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

    /// Takes a value that XML has in an attribute.
    mutating func set(_ attribute: String, _ value: PlacedJSON?) {
        guard let value else { return }
        guard let text = value.text else {
            mark("$\(attribute) is \(value.kindName).")
            return
        }
        set(attribute, text)
    }

    mutating func append(_ child: MarkupElement) { children.append(child) }

    /// Says why the element cannot be used; the first reason holds.
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
