import EDM

/// Documents for tests. The tested part begins in line 2.
enum CSDLSource {
    /// Returns a V4 document with the schema `S` and the alias `Self`.
    static func v4(_ body: String, version: String = "4.0") -> String {
        #"<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="\#(version)"><edmx:DataServices>"#
            + #"<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S" Alias="Self">"# + "\n" + body
            + "</Schema></edmx:DataServices></edmx:Edmx>"
    }

    /// Returns a V2 document with the schema `S` and the alias `Self`.
    static func v2(_ body: String) -> String {
        #"<edmx:Edmx xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" Version="1.0">"#
            + #"<edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata""#
            + #" m:DataServiceVersion="2.0"><Schema xmlns="http://schemas.microsoft.com/ado/2008/09/edm""#
            + #" xmlns:sap="http://www.sap.com/Protocols/SAPData" Namespace="S" Alias="Self">"# + "\n" + body
            + "</Schema></edmx:DataServices></edmx:Edmx>"
    }

    static func entityType(_ name: String, _ rest: String = "") -> String {
        #"<EntityType Name="\#(name)"><Key><PropertyRef Name="ID"/></Key>"#
            + #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/>\#(rest)</EntityType>"#
    }
}

extension EntityDataModel {
    static func v4(_ body: String) throws -> EntityDataModel { try CSDLReader.read(Array(CSDLSource.v4(body).utf8)) }
    static func v2(_ body: String) throws -> EntityDataModel { try CSDLReader.read(Array(CSDLSource.v2(body).utf8)) }
}
