/// A cell of the grid: a technique at one end of a relationship for one purpose, and the expected outcome.
struct Cell: Sendable {
    let technique: Technique
    /// The end at which the technique is used, such as `Cars/Owner`.
    let end: String
    let aim: Aim
    let call: Call
    let outcome: Outcome
    /// The requests to a V2 service, by batch and change set, if they differ from those to a V4 service. V2 supports
    /// references to new entities only in URLs.
    var legacyBatches: [[[Wanted]]]?

    /// Returns the cell with these requests in V2, by batch and change set.
    func inV2(_ batches: [[Wanted]]...) -> Cell {
        var cell = self
        cell.legacyBatches = batches
        return cell
    }

    /// Returns the requests by batch and change set, or nil if the call is refused.
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
    case replaceLinks
    case deleteLink
    case deleteEntity

    /// The purposes for which the technique can be used.
    var aims: [Aim] {
        switch self {
        case .createLink, .updateLink, .bindBeforeCreate, .bindBeforeUpdate, .createRelatedEntity, .setAndUpdate,
            .constraintOnCreate:
            [.create, .move]
        case .deepInsert, .plainCreate, .separateCalls: [.create]
        case .constraintOnUpdate, .contentID, .replaceLinks: [.create, .move, .delete]
        case .deleteLink, .deleteEntity: [.delete]
        }
    }
}

enum Aim: String, Sendable, CaseIterable {
    /// A link at an end without links, or a new entity with its link.
    case create
    /// A link that replaces another link.
    case move
    case delete
}

enum Outcome: Sendable {
    /// The call is allowed.
    ///
    /// - `links`: The whole relationship afterwards. A pair is `1-2`; an entity without a partner is `3-` (first end)
    ///   or `-3` (second end).
    /// - `batches`: The requests, by batch and change set.
    case allowed(links: String, batches: [[[Wanted]]])
    case refused(Refused)
}

/// The expected content of a refusal.
struct Refused: Sendable {
    /// The name of the `OperationRefused.Code`.
    let code: String
    /// Parts of the message: the entity, the property and the rule.
    let says: [String]
    /// Parts of the advice.
    let advises: [String]
}

extension Cell {
    /// Whether the call names the target of a single-valued property, for which the request has no place. Only a caller
    /// that has the links can detect that the target is wrong.
    var isLostOnTheWire: Bool {
        guard case .deleteLink(_, _?) = call, end == "IDCards/Person" || end == "Persons/IDCard" else { return false }
        return true
    }

    /// Returns a cell whose requests are sent in one change set.
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
    /// The number in the list of requirements.
    let row: String
    /// The multiplicities, such as `1 – 0..1`.
    let multiplicities: String
    let first: End
    let second: End
    /// The links at the service at the start, in the form of ``Outcome/allowed(links:batches:)``.
    let links: String
    /// The rule in words, for the document.
    let rule: String
    let cells: [Cell]
    /// The cases that have no meaning for this combination, with the reason.
    let meaningless: [Meaningless]

    struct Meaningless: Sendable {
        let techniques: [Technique]
        /// The end, or nil for both ends.
        let end: String?
        /// The purpose, or nil for all purposes.
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
        /// The property that has the label of a new entity as its value.
        let label: String
        /// The property that contains the key of the partner, if this end has one.
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
