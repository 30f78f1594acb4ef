import EDM
import ODataWire

/// The configured capabilities of a service, and the findings of uploads about it.
struct ServiceCapabilities {
    /// The configured capabilities, or nil to derive them from the metadata.
    var given: ServiceOptions?
    var detected = DetectedOptions()

    func options(for model: EntityDataModel) -> ServiceOptions {
        detected.applied(to: given ?? ServiceOptions(declaredBy: model), version: model.version)
    }
}
