import EDM
import Operations

extension Provenance {
    /// Returns a change as one JSON object without line breaks. The form is a contract for other programs:
    ///
    ///     {"entity": 3, "sequence": 12, "time": "…", "part": "property", "name": "Name", "before": "Ada", "after":
    ///     "Eve",
    ///      "cause": {"kind": "edit", "operation": 12}, "visible": true, "exchanges": […]}
    ///
    /// `part` is `existence`, `property` or `link`. `before` and `after` are values in the JSON form of OData V4, names
    /// of entities for a link, and true or false for existence; unset ones are omitted. `cause` has `kind` (see
    /// ``Cause/name``) and those of `operation`, `operations`, `batch`, `query` and `decision` that apply. `exchanges`
    /// has the form that `tidelog show --json` prints, for the operation.
    public func json(_ change: Change) -> String {
        var writer = HistoryJSONWriter()
        writer.object {
            $0.number("entity", entity.rawValue)
            $0.number("sequence", change.sequence)
            $0.text("time", change.time.flatMap(iso8601))
            $0.aspect(change.aspect)
            $0.content("before", change.before)
            $0.content("after", change.after)
            $0.cause(change.cause)
            $0.json.name("visible")
            $0.json.boolean(change.isVisible)
            $0.exchanges(of: change.cause, in: self)
        }
        return writer.json.text
    }

    /// Returns a line as one JSON object without line breaks, with the members that a change has, but with
    /// `value` instead of `before`, `after` and `visible`.
    public func json(_ line: Line) -> String {
        var writer = HistoryJSONWriter()
        writer.object {
            $0.number("entity", entity.rawValue)
            $0.aspect(line.aspect)
            $0.content("value", line.content)
            if let sequence = line.sequence { $0.number("sequence", sequence) }
            $0.text("time", line.time.flatMap(iso8601))
            if let cause = line.cause {
                $0.cause(cause)
                $0.exchanges(of: cause, in: self)
            }
        }
        return writer.json.text
    }
}

extension HistoryJSONWriter {
    fileprivate mutating func aspect(_ aspect: Provenance.Aspect) {
        switch aspect {
        case .existence: text("part", "existence")
        case .property: text("part", "property")
        case .link: text("part", "link")
        }
        text("name", aspect.name)
    }

    fileprivate mutating func content(_ name: String, _ content: Provenance.AspectValue) {
        switch content {
        case .absent: break
        case .present: flag(name)
        case .value(let value):
            json.name(name)
            self.value(value)
        case .entities(let entities): array(name, entities) { $0.json.string($1) }
        }
    }

    fileprivate mutating func cause(_ cause: Provenance.Cause) {
        json.name("cause")
        object {
            $0.text("kind", cause.name)
            if let operation = cause.operation { $0.number("operation", operation) }
            switch cause {
            case .download(let query), .leftQuery(let query): $0.text("query", query)
            case .answer(let batch, _), .key(let batch, _): $0.number("batch", batch)
            case .undo(let operations), .redo(let operations), .elision(let operations), .amendment(let operations):
                $0.numbers("operations", operations)
            case .conflict(let decision): $0.text("decision", "\(decision)")
            case .other(let kind): $0.text("record", kind)
            case .edit, .read, .missing, .metadata, .compaction: break
            }
        }
    }

    fileprivate mutating func exchanges(of cause: Provenance.Cause, in provenance: Provenance) {
        guard let operation = cause.operation, let exchanges = provenance.exchanges[operation] else { return }
        array("exchanges", exchanges) { writer, exchange in writer.object { $0.exchange(exchange) } }
    }
}
