internal import ArgumentParser
internal import ODataSandbox
internal import ODataWire

/// The capabilities that `--without` can remove from the service.
enum Lack: String, CaseIterable, ExpressibleByArgument {
    case batch, bind, patch, methods, references
    case referencesInBodies = "references-in-bodies"
    case bodies, rollback

    func take(from abilities: inout Abilities) {
        switch self {
        case .batch: abilities.batch = false
        case .bind: abilities.bind = false
        case .patch: abilities.patch = false
        case .methods: abilities.methods = false
        case .references: abilities.contentIDReferences = .none
        case .referencesInBodies: abilities.contentIDReferences = .urlsOnly
        case .rollback: abilities.rollsBackChangeSets = false
        case .bodies: abilities.deepInsertAnswer = .withoutBody
        }
    }
}
