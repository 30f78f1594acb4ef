internal import ArgumentParser
internal import ODataSandbox
internal import ODataWire

/// The capabilities that `--without` can remove from the service.
enum MissingCapability: String, CaseIterable, ExpressibleByArgument {
    case batch, bind, patch, methods, references
    case referencesInBodies = "references-in-bodies"
    case bodies, rollback, json

    func remove(from capabilities: inout Capabilities) {
        switch self {
        case .batch: capabilities.batch = false
        case .bind: capabilities.bind = false
        case .patch: capabilities.patch = false
        case .methods: capabilities.methods = false
        case .references: capabilities.contentIDReferences = .none
        case .referencesInBodies: capabilities.contentIDReferences = .urlsOnly
        case .rollback: capabilities.rollsBackChangeSets = false
        case .bodies: capabilities.deepInsertAnswer = .withoutBody
        case .json: capabilities.v2Format = .atom
        }
    }
}
