internal import EDM
internal import ODataWire

/// What a modification has done. The response is written after the whole change set has been accepted, so that it shows
/// what was kept.
enum ModificationOutcome {
    /// `expanded`: the navigation properties that the request brought entities in.
    case created(RowID, expanded: Expansion, marks: [RowID: DeepInsertMark] = [:])
    case updated(RowID)
    /// The stream of a media entity was replaced.
    case streamed(RowID)
    /// Deleted, linked, unlinked.
    case done
    /// An action, or a function import of V2 that is not called with GET.
    case invoked(InvokedOperation, SandboxResult, RequestURL)

    /// What a Content-ID of the request refers to.
    var row: RowID? {
        switch self {
        case .created(let row, _, _), .updated(let row), .streamed(let row): row
        case .done, .invoked: nil
        }
    }
}
