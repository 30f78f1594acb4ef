public import EDM
import SyncEngine

/// The metadata that an app's classes were generated from, and which changes the classes can live with.
public struct ClassMetadata: Sendable {
    /// What the classes know, documents that the first one refers to included.
    public let model: EntityDataModel
    /// What is compared with a service's document: the first document alone, since a service gives one.
    let compared: EntityDataModel
    /// Whether the classes take members of enumerations that are added later.
    let hasOpenEnumerations: Bool

    public init(_ metadata: EmbeddedMetadata, hasOpenEnumerations: Bool) {
        model = metadata.model
        compared = metadata.ownModel
        self.hasOpenEnumerations = hasOpenEnumerations
    }

    /// How a service's metadata differ from those of the classes, with the changes that these cannot live with.
    ///
    /// None if one document is of V2 or V3 and the other of V4: the classes serve both, and what the documents say cannot be
    /// compared.
    func comparison(with service: EntityDataModel) -> MetadataRefresh {
        var refresh = MetadataRefresh(
            difference: ModelDifference(from: compared, to: service), defects: service.defects)
        guard refresh.difference.isComplete else { return refresh }
        refresh.incompatible = CompatibilityPolicy(hasOpenEnumerations: hasOpenEnumerations).incompatibleChanges(
            in: refresh.difference)
        return refresh
    }
}
