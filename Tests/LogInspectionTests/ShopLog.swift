import EDM
import OfflineStore
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import LogInspection

/// A sample log of a store with customers and orders, in the form that the engine writes.
final class ShopLog {
    let log: SampleLog

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customers"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="City" Type="Edm.String"/>
        <NavigationProperty Name="Orders" Type="Collection(Shop.Orders)" Partner="Customer"/></EntityType>
        <EntityType Name="Orders"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Note" Type="Edm.String"/>
        <Property Name="CustomerID" Type="Edm.Int32"/>
        <NavigationProperty Name="Customer" Type="Shop.Customers" Partner="Orders">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        <EntityContainer Name="C">
        <EntitySet Name="Customers" EntityType="Shop.Customers">
        <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
        <EntitySet Name="Orders" EntityType="Shop.Orders">
        <NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Appends records 1 to 5: the metadata, a query, and a download of two customers.
    init(segmentSize: UInt64 = 16_777_216, runSize: Int = 262_144) throws {
        log = try SampleLog(segmentSize: segmentSize, runSize: runSize)
        try log.append(
            .serviceInstalled(ServiceDescription(root: "http://shop/", metadata: Array(Self.metadata.utf8))),
            .definingQueryAdded(DefiningQuery(name: "C", query: "Customers")), .downloadStarted(queries: ["C"]),
            .downloadPage(
                DownloadPage(query: "C", entities: [Self.customer(1, "Ada", "Rome"), Self.customer(2, "Bob", "Oslo")])),
            .downloadFinished(query: "C"))
    }

    static func customer(_ number: UInt64, _ name: String, _ city: String) -> EntityImage {
        EntityImage(
            entity: id(number), set: "Customers", type: "Shop.Customers",
            values: ["ID": .integer(Int64(number)), "Name": .string(name), "City": .string(city)])
    }

    var store: InspectedStore { InspectedStore(directory: log.directory.path) }

    @discardableResult
    func append(_ bodies: Record.Body...) throws -> SequenceNumber {
        for body in bodies { try log.append(body) }
        return log.log.nextSequence - 1
    }

    /// Returns the service of the first record.
    func service() throws -> ServiceDescription? {
        var found: ServiceDescription?
        try LogReader(directory: log.path).forEach { record in
            let body = try RecordCodec.decode(kind: record.kind, payload: record.payload).body
            if case .serviceInstalled(let service) = body { found = found ?? service }
        }
        return found
    }

    /// - Parameter others: The records before they were lost.
    func writeSnapshot(replacing others: [SequenceNumber: Record.Body] = [:]) throws {
        var fold = try Fold(storage: WorkingSet())
        let decoder = RecordDecoder()
        try LogReader(directory: log.path).forEach { record in
            var read = try decoder.decode(kind: record.kind, payload: record.payload)
            if let other = others[record.sequence] { read.body = other }
            try fold.apply(read, sequence: record.sequence)
        }
        try fold.finishRebase()
        _ = try log.log.writeSnapshot { writer in
            try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
    }

    /// Writes a snapshot of the whole log and removes all records.
    func compact() throws {
        try writeSnapshot()
        try log.log.compact(keepingFrom: .max)
    }

    func provenance(_ text: String) throws -> Provenance {
        try store.provenance(of: try #require(EntityReference(text)))
    }

    /// Returns one line for each change, such as `9 Name 'Eve' local edit`. Invisible changes are in parentheses.
    func history(_ text: String) throws -> [String] {
        let provenance = try provenance(text)
        let property = EntityReference(text)?.property
        return provenance.changes.filter { property == nil || $0.aspect.name == property }.map { change in
            let line =
                "\(change.sequence) \(change.aspect.name ?? "entity") \(Provenance.words(of: change.after)): "
                + provenance.words(of: change.cause)
            return change.isVisible ? line : "(\(line))"
        }
    }

    func blame(_ text: String) throws -> [String] {
        let provenance = try provenance(text)
        return provenance.lines.map { line in
            "\(line.aspect.name ?? "entity") \(Provenance.words(of: line.content)): \(line.sequence ?? 0) "
                + (line.cause.map(provenance.words) ?? "nobody")
        }
    }
}

func update(_ number: UInt64, _ values: PropertyValues, bind: [Binding] = []) -> Record.Body {
    .operation(Operation(.update(id(number), changes: values, bindings: bind)))
}
