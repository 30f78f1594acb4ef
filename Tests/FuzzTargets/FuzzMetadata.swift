import EDM
import ODataWire
import SyncCore

/// Reads a metadata document, in XML or JSON.
///
/// Required: a document that can be read is read in the same way again, and its model can be indexed and compared with
/// itself without a difference.
func fuzzMetadata(_ input: [UInt8]) throws(Finding) {
    guard let model = try? CSDLReader.read(input) else { return }
    guard let again = try? CSDLReader.read(input) else { throw Finding("a document can be read once") }
    let sets = model.entitySets.map(\.name)
    try require(sets == again.entitySets.map(\.name), "two readings differ: \(sets)")
    let index = RelationshipIndex(model)
    for set in model.entitySets {
        _ = index.constraints(ofDependentsIn: set.name)
        _ = set.entityType.keyProperties
    }
}

let metadataSeeds: [[UInt8]] = [
    FuzzModel.metadata,
    #"{"$Version":"4.01","$EntityContainer":"S.C","S":{"T":{"$Kind":"EntityType","$Key":["I"],"I":{"$Type":"Edm.Int32"},"N":{"$Kind":"NavigationProperty","$Type":"S.T","$Nullable":true}},"C":{"$Kind":"EntityContainer","E":{"$Collection":true,"$Type":"S.T","$NavigationPropertyBinding":{"N":"E"}}}}}"#,
    #"<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices><Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="T"><Key><PropertyRef Name="I"/></Key><Property Name="I" Type="Edm.Int32" Nullable="false"/><NavigationProperty Name="N" Relationship="S.A" FromRole="a" ToRole="b"/></EntityType><Association Name="A"><End Role="a" Type="S.T" Multiplicity="0..1"/><End Role="b" Type="S.T" Multiplicity="*"/></Association><EntityContainer Name="C"><EntitySet Name="E" EntityType="S.T"/><AssociationSet Name="A" Association="S.A"><End Role="a" EntitySet="E"/><End Role="b" EntitySet="E"/></AssociationSet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>"#,
].map { Array($0.utf8) }
