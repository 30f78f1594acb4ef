import EDM
internal import OperationLog
import Operations

extension HistoryItem {
    /// Returns the item as one JSON object without line breaks. The form is a contract for other programs.
    ///
    /// Every entry has
    ///
    ///     {"sequence": 12, "time": "2026-11-21T07:43:17.120Z", "kind": "operation", "summary": "…", "entities": [3,
    ///     4], …}
    ///
    /// `time` is null for a record of a later version, `entities` are entity IDs. Further members depend on `kind`:
    ///
    /// | kind | members |
    /// |---|---|
    /// | `operation` | `action` (`create`, `update`, `delete`, `createLink`, `updateLink`, `deleteLink`), `entity` with `set`, `type` and `values` for a create, `values` for an update, `in` and `navigation` for a create through a navigation property, `from`, `navigation` and `to` for links, `bind` (`[{"navigation", "to": […]}]`), `inline` (`[{"navigation", "entities": […]}]`), `changeSet`, `transactionID`, `customTag`, `baseETag`, `unmodifiable` (true), `uploadCategory` (a text, or the number of an entity), `delivery` (`draft`, `localOnly`; absent if queued), `stream` (`property`, absent for the stream of a media entity; `digest`, `bytes`, `mediaType` and `name`, absent if it is deleted); `fate` (see ``OperationOutcome/name``) if the caller passed fates |
    /// | `serviceInstalled` | `root`, `metadataBytes` |
    /// | `definingQueryAdded` | `name`, `query` |
    /// | `definingQueryRemoved` | `name` |
    /// | `downloadStarted` | `queries`; `modes`, in the same order, unless all are `full`: `full`, `delta`, `resumed`, `restarted` |
    /// | `downloadPage` | `query`; `unchanged` (a count), `removed` and `left` (entity IDs), `links` (a count), `next` (true: a page follows), each only if present |
    /// | `downloadFinished` | `query`; `deltaLink` (true) if the service returned one |
    /// | `linksLeftOpen` | `links`: `[{"query", "set", "source", "navigation", "target"}]`, all dangling links after the record |
    /// | `entitiesQuarantined` | `entities`: `[{"query", "set", "name", "entity", "reason", "path", "message", "value", "count"}]`, the entities of this part; `name` and `entity` if they are known |
    /// | `batchPrepared` | `batch`, `operations` (sequence numbers), `changeSets` (a count), `requestBytes`; `requests`: `[{"contentID", "method", "url"}]` if they are repeatable |
    /// | `batchAccepted` | `batch`, `monitor` |
    /// | `batchAnswered` | `batch`, `outcomes`: `[{"operation", "result": "confirmed" \| "rejected" \| "deferred" \| "notProcessed" \| "inDoubt", …}]`; rejected and deferred ones with `status`, `code`, `message`, deferred ones with `attempts`, ones in doubt with `reason` |
    /// | `batchInterrupted` | `batch`, `reason` |
    /// | `operationsReleased`, `operationsUndone`, `operationsRedone`, `operationsElided`, `clientChangesKept` | `operations` |
    /// | `uploadPostponed` | `notBefore`, `attempt`, `reason` |
    /// | `deliveryChanged` | `operations`, `delivery` (`queued`, `draft`, `localOnly`) |
    /// | `conflictResolved` | `entity`, `decision` (`clientWins`, `serverWins`, `merged`, `app`, `call`), `dropped`: `[{"operation", "properties": […], "navigations": […]}]`, `takenBack` and `released` (sequence numbers) |
    /// | `entitiesMissing` | none |
    /// | `operationsUnfit` | `operations`: `[{"operation", "reason"}]` |
    /// | `operationsAmended` | `operations`: `[{"operation", …}]`, each with the members of its new `operation` |
    /// | `streamsStored` | `streams`: `[{"entity", "property", "digest", "bytes", "mediaType", "name", "etag", "told": {"readLink", "editLink", "etag"}}]`, without `digest` if the store no longer has a copy, with `told` if it has the service's metadata of the stream (URLs without their queries) |
    /// | `unknown` | `kindNumber`, `bytes` |
    ///
    /// Any other item has the `kind` `lost` (`sequence` and `last`, the first and the last missing record),
    /// `undecodable` (`sequence`, `kindNumber`, `reason`), `damage` (`path`, `offset`, `fault`, `sequence`, and
    /// `resumesAt`, null if nothing more is readable) or `compacted` (`sequence` of the first removed record, and
    /// `resumesAt`; the removed operations that are pending or undone follow as entries with `"carried":true`). Values
    /// are in the JSON form of OData V4. Members that do not apply are omitted. Members may be added in later versions.
    ///
    /// - Parameters:
    ///   - outcomes: The outcomes of the operations, or nil to omit them.
    ///   - edges: The dependencies of an operation, or nil to omit them. If they are given, an operation has
    ///     `dependsOn`: `[{"operation", "because", "entity"}]`, see ``OperationDependences/Edge``, and `batch`, the
    ///     last batch that sent it according to its outcome.
    package func json(outcomes: OperationOutcomes? = nil, dependsOn edges: [OperationDependences.Edge]? = nil) -> String
    {
        var writer = HistoryJSONWriter()
        switch self {
        case .entry(let entry): writer.entry(entry, outcome: outcomes?[entry.sequence], edges: edges)
        case .lost(let range):
            writer.object {
                $0.number("sequence", range.lowerBound)
                $0.text("kind", "lost")
                $0.number("last", range.upperBound)
            }
        case .undecodable(let sequence, let kind, let reason):
            writer.object {
                $0.number("sequence", sequence)
                $0.text("kind", "undecodable")
                $0.number("kindNumber", kind)
                $0.text("reason", reason)
            }
        case .damage(let damage, let resumesAt):
            writer.object {
                $0.number("sequence", damage.sequence)
                $0.text("kind", "damage")
                $0.text("path", damage.path)
                $0.number("offset", damage.offset)
                $0.text("fault", damage.fault.description)
                if let resumesAt { $0.number("resumesAt", resumesAt) } else { $0.null("resumesAt") }
            }
        case .carried(let entry, let outcome, _):
            writer.entry(entry, outcome: outcomes?[entry.sequence] ?? outcome, isCarried: true)
        case .compacted(let sequence, let resumesAt):
            writer.object {
                $0.number("sequence", sequence)
                $0.text("kind", "compacted")
                $0.number("resumesAt", resumesAt)
            }
        }
        return writer.json.text
    }
}
