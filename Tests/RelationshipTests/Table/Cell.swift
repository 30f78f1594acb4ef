/// One cell of the grid: a technique at one end of a relationship for one purpose, and what has to come of it.
struct Cell: Sendable {
    let technique: Technique
    /// `Cars/Owner`: the end that the technique goes through.
    let end: String
    let aim: Aim
    let call: Call
    let outcome: Outcome
    /// The requests to a service of V2, by batch and change set, where they are not the same as to one of V4: V2 has references to new
    /// entities in URLs only.
    var legacyBatches: [[[Wanted]]]?

    /// The same cell with these requests in V2, by batch and change set.
    func inV2(_ batches: [[Wanted]]...) -> Cell {
        var cell = self
        cell.legacyBatches = batches
        return cell
    }

    /// The requests by batch and change set; nil where the call is refused.
    func batches(_ version: Wanted.Version) -> [[[Wanted]]]? {
        guard case .allowed(_, let batches) = outcome else { return nil }
        guard version == .v2, let legacyBatches else { return batches }
        return legacyBatches
    }
}

enum Technique: String, Sendable, CaseIterable {
    case createLink
    case updateLink
    case bindBeforeCreate = "bindEntity + createEntity"
    case bindBeforeUpdate = "bindEntity + updateEntity"
    case createRelatedEntity
    case deepInsert = "setEntityValue + createEntity"
    case setAndUpdate = "setEntityValue + updateEntity"
    case constraintOnCreate = "constraint property + createEntity"
    case constraintOnUpdate = "constraint property + updateEntity"
    case contentID = "change set"
    case separateCalls = "separate calls"
    case plainCreate = "createEntity alone"
    case deleteLink
    case deleteEntity

    /// What the technique can be for at all.
    var aims: [Aim] {
        switch self {
        case .createLink, .updateLink, .bindBeforeCreate, .bindBeforeUpdate, .createRelatedEntity, .setAndUpdate,
            .constraintOnCreate:
            [.create, .move]
        case .deepInsert, .plainCreate, .separateCalls: [.create]
        case .constraintOnUpdate, .contentID: [.create, .move, .delete]
        case .deleteLink, .deleteEntity: [.delete]
        }
    }
}

enum Aim: String, Sendable, CaseIterable {
    /// A link where none was, or a new entity with its link.
    case create
    /// A link instead of another one.
    case move
    case delete
}

enum Outcome: Sendable {
    /// - `links`: the whole relationship afterwards, each pair as `1-2`, an entity without a partner as `3-` (first end) or
    ///   `-3` (second end).
    /// - `batches`: the requests, by batch and change set.
    case allowed(links: String, batches: [[[Wanted]]])
    case refused(Refused)
}

/// What a refusal has to say.
struct Refused: Sendable {
    /// `OperationRefused.Code`
    let code: String
    /// Parts of the sentence: the entity, the property and the rule.
    let says: [String]
    /// Parts of the way out.
    let advises: [String]
}

extension Cell {
    /// Whether the call names the target of a single-valued property, which the request has no place for: only who knows the
    /// links can tell that it is another one.
    var isLostOnTheWire: Bool {
        guard case .deleteLink(_, _?) = call, end == "IDCards/Person" || end == "Persons/IDCard" else { return false }
        return true
    }

    /// Carried out by the requests of one change set.
    static func allowed(
        _ technique: Technique, _ end: String, _ aim: Aim, _ call: Call, _ links: String, _ requests: Wanted...
    ) -> Cell {
        Cell(
            technique: technique, end: end, aim: aim, call: call,
            outcome: .allowed(links: links, batches: [[requests]]))
    }

    static func refused(
        _ technique: Technique, _ end: String, _ aim: Aim, _ call: Call, _ code: String, _ says: String...,
        advice: String...
    ) -> Cell {
        Cell(
            technique: technique, end: end, aim: aim, call: call,
            outcome: .refused(Refused(code: code, says: says, advises: advice)))
    }
}

/// Two entity sets and the relationship between them.
struct Combination: Sendable {
    /// As the inventory of requirements numbers it.
    let row: String
    /// `1 – 0..1`
    let multiplicities: String
    let first: End
    let second: End
    /// In the form of ``Outcome/allowed(links:batches:)``: what the service holds at the start.
    let links: String
    /// In words, for the document.
    let rule: String
    let cells: [Cell]
    /// What has no meaning here, with the reason.
    let meaningless: [Meaningless]

    struct Meaningless: Sendable {
        let techniques: [Technique]
        /// nil for both.
        let end: String?
        /// nil for all.
        let aim: Aim?
        let why: String

        init(_ techniques: [Technique], end: String? = nil, aim: Aim? = nil, why: String) {
            self.techniques = techniques
            self.end = end
            self.aim = aim
            self.why = why
        }
    }

    struct End: Sendable {
        let set: String
        let navigation: String
        /// The property that a new entity gets a value for.
        let label: String
        /// The property that names the partner by its key, where this end has one.
        var constraint: String?

        var place: String { "\(set)/\(navigation)" }
    }
}

extension Combination: CustomStringConvertible {
    var description: String { "\(first.set) \(multiplicities) \(second.set)" }

    static let all = [
        personsAndIDCards, citiesAndMayors, ownersAndCars, fathersAndChildren, customersAndOrders,
        suppliersAndProducts,
    ]
}
