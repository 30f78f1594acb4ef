package import EDM
import OfflineStore

/// The metadata from which an app's classes were generated, and the changes that the classes support.
package struct ClassMetadata: Sendable {
    /// The model of the classes, including referenced documents.
    package let model: EntityDataModel
    /// The model that is compared with a service's document: the first document only, because a service returns one.
    let compared: EntityDataModel
    /// Whether the classes support members that are added to enumerations later.
    let hasOpenEnumerations: Bool

    package init(_ metadata: EmbeddedMetadata, hasOpenEnumerations: Bool) {
        model = metadata.model
        compared = metadata.ownModel
        self.hasOpenEnumerations = hasOpenEnumerations
    }

    /// Returns the difference between a service's metadata and that of the classes, including the changes that the
    /// classes do not support.
    ///
    /// Contains no differences if one document is V2 or V3 and the other V4: the classes support both, and the
    /// documents are not comparable.
    func comparison(with service: EntityDataModel) -> MetadataRefresh {
        var refresh = MetadataRefresh(
            difference: ModelDifference(from: compared, to: service), defects: service.defects)
        guard refresh.difference.isComplete else { return refresh }
        refresh.incompatible = CompatibilityPolicy(hasOpenEnumerations: hasOpenEnumerations).incompatibleChanges(
            in: refresh.difference)
        return refresh
    }
}
