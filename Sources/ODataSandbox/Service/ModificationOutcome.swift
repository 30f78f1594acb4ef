internal import EDM
internal import ODataWire

/// The outcome of a modification.
///
/// The response is written after the whole change set has been accepted, so that it contains the stored values.
enum ModificationOutcome {
    /// A created entity. `expanded` contains the navigation properties with new entities in the request.
    case created(RowID, expanded: Expansion, marks: [RowID: DeepInsertMark] = [:])
    case updated(RowID)
    /// The stream of a media entity, or of a property, was replaced or deleted.
    case streamed(RowID, property: String? = nil)
    /// A delete, link or unlink was executed.
    case done
    /// An action was called, or a function import of V2 with a method other than GET.
    case invoked(InvokedOperation, SandboxResult, RequestURL)

    /// The entity that the Content-ID of the request refers to, or nil.
    var row: RowID? {
        switch self {
        case .created(let row, _, _), .updated(let row), .streamed(let row, _): row
        case .done, .invoked: nil
        }
    }
}
