package import EDM

extension ByteWriter {
    /// Writes the content of a record without its time.
    mutating func body(_ body: Record.Body) {
        switch body {
        case .lost, .unknown: break
        case .serviceInstalled(let service): self.service(service)
        case .operation(let operation): self.operation(operation)
        case .definingQueryAdded(let query): definingQuery(query)
        case .definingQueryRemoved(let name): string(name)
        case .downloadStarted(let queries): list(queries) { $0.queryStart($1) }
        case .downloadPage(let page): self.page(page)
        case .downloadFinished(let finished): self.finished(finished)
        case .linksLeftOpen(let links): openLinks(links)
        case .entitiesQuarantined(let entities): list(entities) { $0.quarantined($1) }
        case .entitiesRead(let images): list(images) { $0.image($1) }
        case .entitiesMissing(let entities): list(entities) { $0.entity($1) }
        case .batchPrepared(let prepared): self.prepared(prepared)
        case .batchAccepted(let accepted): batch(accepted.batch, accepted.monitor)
        case .batchAnswered(let answered): self.answered(answered)
        case .batchInterrupted(let interrupted): batch(interrupted.batch, interrupted.reason)
        case .operationsReleased(let operations): queueChange(.released, operations)
        case .operationsUndone(let operations): queueChange(.undone, operations)
        case .operationsRedone(let operations): queueChange(.redone, operations)
        case .operationsElided(let operations): queueChange(.elided, operations)
        case .clientChangesKept(let operations): queueChange(.kept, operations)
        case .deliveryChanged(let operations, let delivery):
            byte(delivery.rawValue)
            sequences(operations)
        case .uploadPostponed(let postponed): self.postponed(postponed)
        case .conflictResolved(let resolved): self.resolved(resolved)
        case .operationsIncompatible(let incompatible):
            list(incompatible) {
                $0.unsigned($1.operation)
                $0.refusal($1.refusal)
            }
        case .operationsAmended(let amended):
            list(amended) {
                $0.unsigned($1.operation)
                $0.operation($1.content)
            }
        case .streamsStored(let images): list(images) { $0.write($1) }
        }
    }

    package mutating func service(_ service: ServiceDescription) {
        string(service.root)
        blob(service.metadata)
    }

    private mutating func batch(_ batch: BatchID, _ text: String) {
        unsigned(batch)
        string(text)
    }
}

extension ByteReader {
    /// Reads the content of a record without its time.
    mutating func body(_ kind: RecordCodec.RecordKind) throws(CodecError) -> Record.Body {
        switch kind {
        case .lost: .lost
        case .serviceInstalled: .serviceInstalled(try service())
        case .operation: .operation(try operation())
        case .definingQueryAdded: .definingQueryAdded(try definingQuery())
        case .definingQueryRemoved: .definingQueryRemoved(name: try string())
        case .downloadStarted: .downloadStarted(try list { r throws(CodecError) in try r.queryStart() })
        case .downloadPage: .downloadPage(try page(isCompared: false))
        case .comparedPage: .downloadPage(try page(isCompared: true))
        case .downloadFinished: .downloadFinished(try finished())
        case .linksLeftOpen: .linksLeftOpen(try openLinks())
        case .entitiesQuarantined: .entitiesQuarantined(try list { r throws(CodecError) in try r.quarantined() })
        case .entitiesRead: .entitiesRead(try images())
        case .entitiesMissing: .entitiesMissing(try list { r throws(CodecError) in try r.entity() })
        case .batchPrepared: .batchPrepared(try prepared())
        case .batchAccepted: .batchAccepted(BatchAccepted(batch: try unsigned(), monitor: try string()))
        case .batchAnswered: .batchAnswered(try answered())
        case .batchInterrupted: .batchInterrupted(BatchInterrupted(batch: try unsigned(), reason: try string()))
        case .queueChanged: try queueChange()
        case .deliveryChanged: try deliveryChange()
        case .uploadPostponed: .uploadPostponed(try postponed())
        case .conflictResolved: .conflictResolved(try resolved())
        case .operationsIncompatible:
            .operationsIncompatible(
                try list { r throws(CodecError) in
                    IncompatibleOperation(operation: try r.unsigned(), refusal: try r.refusal())
                })
        case .operationsAmended:
            .operationsAmended(
                try list { r throws(CodecError) in
                    AmendedOperation(operation: try r.unsigned(), content: try r.operation())
                })
        case .streamsStored: .streamsStored(try list { r throws(CodecError) in try r.streamImage() })
        }
    }

    package mutating func service() throws(CodecError) -> ServiceDescription {
        ServiceDescription(root: try string(), metadata: try blob())
    }

    private mutating func deliveryChange() throws(CodecError) -> Record.Body {
        let delivery = try delivery()
        return .deliveryChanged(try sequences(), to: delivery)
    }
}
