internal import ODataWire
internal import OperationLog
import Operations

extension HistoryItem {
    /// The item as one JSON object without line breaks; the form is a contract for other programs.
    ///
    /// Every entry has
    ///
    ///     {"sequence": 12, "time": "2026-11-21T07:43:17.120Z", "kind": "operation", "summary": "…", "entities": [3, 4], …}
    ///
    /// `time` is null for a record of a later version, `entities` are entity IDs. By `kind` there follow
    ///
    /// | kind | members |
    /// |---|---|
    /// | `operation` | `action` (`create`, `update`, `delete`, `createLink`, `updateLink`, `deleteLink`), `entity` with `set`, `type` and `values` for a create, `values` for an update, `in` and `navigation` for a create through a navigation property, `from`, `navigation` and `to` for links, `bind` (`[{"navigation", "to": […]}]`), `inline` (`[{"navigation", "entities": […]}]`), `changeSet`, `transactionID`, `customTag`, `baseETag`, `unmodifiable` (true), `uploadCategory` (a text, or the number of an entity), `delivery` (`draft`, `localOnly`; queued where there is none), `stream` (`property`, none for that of a media entity; `digest`, `bytes`, `mediaType` and `name`, none where it is deleted); `fate` (see ``OperationFate/name``) where the caller gave fates |
    /// | `serviceInstalled` | `root`, `metadataBytes` |
    /// | `definingQueryAdded` | `name`, `query` |
    /// | `definingQueryRemoved` | `name` |
    /// | `downloadStarted` | `queries`; `modes`, in the same order, where not all are `full`: `full`, `delta`, `resumed`, `restarted` |
    /// | `downloadPage` | `query`; `unchanged` (how many), `removed` and `left` (entity IDs), `links` (how many), `next` (true: a page follows) where there are any |
    /// | `downloadFinished` | `query`; `deltaLink` (true) where the service gave one |
    /// | `linksLeftOpen` | `links`: `[{"query", "set", "source", "navigation", "target"}]`, all that wait now |
    /// | `entitiesQuarantined` | `entities`: `[{"query", "set", "name", "entity", "reason", "path", "message", "value", "count"}]`, those that this part brought; `name` and `entity` if they are known |
    /// | `batchPrepared` | `batch`, `operations` (sequence numbers), `changeSets` (how many), `requestBytes`; `requests`: `[{"contentID", "method", "url"}]` where they can be repeated |
    /// | `batchAccepted` | `batch`, `monitor` |
    /// | `batchAnswered` | `batch`, `outcomes`: `[{"operation", "result": "confirmed" \| "rejected" \| "deferred" \| "notProcessed" \| "inDoubt", …}]`; rejected and deferred ones with `status`, `code`, `message`, deferred ones with `attempts`, ones in doubt with `reason` |
    /// | `batchInterrupted` | `batch`, `reason` |
    /// | `operationsReleased`, `operationsUndone`, `operationsRedone`, `operationsElided` | `operations` |
    /// | `uploadPostponed` | `notBefore`, `attempt`, `reason` |
    /// | `deliveryChanged` | `operations`, `delivery` (`queued`, `draft`, `localOnly`) |
    /// | `conflictResolved` | `entity`, `decision` (`clientWins`, `serverWins`, `merged`, `app`, `call`), `dropped`: `[{"operation", "properties": […], "navigations": […]}]`, `takenBack` and `released` (sequence numbers) |
    /// | `entitiesMissing` | none |
    /// | `operationsUnfit` | `operations`: `[{"operation", "reason"}]` |
    /// | `operationsAmended` | `operations`: `[{"operation", …}]`, each with the members of an `operation` that say what it does from now on |
    /// | `streamsStored` | `streams`: `[{"entity", "property", "digest", "bytes", "mediaType", "name", "etag", "told": {"readLink", "editLink", "etag"}}]`, without `digest` where the store has no copy any more, with `told` where it holds what the service said of the stream (addresses without their queries) |
    /// | `unknown` | `kindNumber`, `bytes` |
    ///
    /// What is no entry has `kind` `lost` (`sequence` and `last`, the first and the last record that is missing),
    /// `undecodable` (`sequence`, `kindNumber`, `reason`), `damage` (`path`, `offset`, `fault`, `sequence`, and `resumesAt`,
    /// null where nothing more can be read) or `compacted` (`sequence` of the first record that was removed, and
    /// `resumesAt`; behind it come the operations among these that had not ended or were undone, as entries with `"carried":true`). Values
    /// are in the JSON form of OData V4; members that do not apply are left out. Members may be added.
    ///
    /// - Parameter edges: where they are given, an operation has `dependsOn`: `[{"operation", "because", "entity"}]`, see
    ///   ``OperationDependences/Edge``; and `batch`, the one that carried it last, where its fate tells.
    public func json(fates: OperationFates? = nil, dependsOn edges: [OperationDependences.Edge]? = nil) -> String {
        var writer = HistoryJSONWriter()
        switch self {
        case .entry(let entry): writer.entry(entry, fate: fates?[entry.sequence], edges: edges)
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
        case .carried(let entry, let fate, _):
            writer.entry(entry, fate: fates?[entry.sequence] ?? fate, isCarried: true)
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
