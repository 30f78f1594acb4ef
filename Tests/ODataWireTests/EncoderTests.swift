import EDM
import ODataQuery
import ODataWire
import Testing

/// The exact requests of the feature inventory, rows HX-01 to HX-15.
@Suite struct `The request encoder` {
    static let v2 = RequestEncoder(version: .v2, model: PayloadShop.model(.v2), serviceRoot: "http://h/s")
    static let v4 = RequestEncoder(version: .v4, model: PayloadShop.model(.v4), serviceRoot: "http://h/s/")

    static let customer = reference(1)
    static let order = ResourceReference.entity(
        set: PayloadShop.orders,
        key: KeyPredicate([("Region", .string("O'Neil & Söhne/1")), ("OrderID", .integer(5))]))

    static func reference(_ id: Int64) -> ResourceReference {
        .entity(set: PayloadShop.customers, key: KeyPredicate([("CustomerID", .integer(id))]))
    }

    static let plainOrder = ResourceReference.entity(
        set: PayloadShop.orders, key: KeyPredicate([("Region", .string("EU")), ("OrderID", .integer(5))]))

    private func line(_ request: WireRequest) -> String { "\(request.method) \(request.url)" }
    private func body(_ request: WireRequest) -> String { String(decoding: request.body, as: UTF8.self) }

    @Test func `keys are percent-encoded with their quotes doubled`() {
        #expect(Self.v2.url(of: Self.customer) == "Customers(1)")
        #expect(Self.v2.url(of: Self.order) == "Orders(Region='O''Neil%20%26%20S%C3%B6hne%2F1',OrderID=5L)")
        #expect(Self.v4.url(of: Self.order) == "Orders(Region='O''Neil%20%26%20S%C3%B6hne%2F1',OrderID=5)")
        #expect(Self.v4.url(of: .contentID("1")) == "$1")
        #expect(Self.v4.url(of: .url("http://h/s/Customers(1)")) == "Customers(1)")
        #expect(Self.v4.url(of: .url("/s/Customers(1)")) == "Customers(1)")
        #expect(Self.v4.url(of: .url("http://other/Customers(1)")) == "http://other/Customers(1)")
        #expect(Self.v4.absoluteURL(of: .url("Customers(1)")) == "http://h/s/Customers(1)")
        #expect(Self.v4.absoluteURL(of: .contentID("1")) == "$1")
    }

    @Test func `a link of a collection-valued property is added with POST`() {
        let link = DataModification(
            .link(from: Self.customer, navigation: PayloadShop.ordersOfCustomer, to: Self.plainOrder))
        let v2 = Self.v2.encode(link)
        #expect(line(v2) == "POST Customers(1)/$links/Orders")
        #expect(body(v2) == #"{"uri":"http://h/s/Orders(Region='EU',OrderID=5L)"}"#)
        let v4 = Self.v4.encode(link)
        #expect(line(v4) == "POST Customers(1)/Orders/$ref")
        #expect(body(v4) == #"{"@odata.id":"http://h/s/Orders(Region='EU',OrderID=5)"}"#)
    }

    @Test func `a link of a single-valued property is set with PUT, also to an entity of the same change set`() {
        let link = DataModification(
            .link(from: .contentID("2"), navigation: PayloadShop.customerOfOrder, to: .contentID("1")))
        #expect(line(Self.v2.encode(link)) == "PUT $2/$links/Customer")
        #expect(body(Self.v2.encode(link)) == #"{"uri":"$1"}"#)
        #expect(line(Self.v4.encode(link)) == "PUT $2/Customer/$ref")
        #expect(body(Self.v4.encode(link)) == #"{"@odata.id":"$1"}"#)
    }

    @Test func `the deletion of a link from a collection names the member`() {
        let fromMany = DataModification(
            .unlink(from: Self.customer, navigation: PayloadShop.ordersOfCustomer, to: Self.plainOrder))
        #expect(line(Self.v2.encode(fromMany)) == "DELETE Customers(1)/$links/Orders(Region='EU',OrderID=5L)")
        #expect(
            line(Self.v4.encode(fromMany))
                == "DELETE Customers(1)/Orders/$ref?$id=http://h/s/Orders(Region='EU',OrderID=5)")
        let byURL = DataModification(
            .unlink(from: Self.customer, navigation: PayloadShop.ordersOfCustomer, to: .url("http://h/s/Orders(7)")))
        #expect(line(Self.v2.encode(byURL)) == "DELETE Customers(1)/$links/Orders(7)")
        let fromOne = DataModification(
            .unlink(from: Self.plainOrder, navigation: PayloadShop.customerOfOrder, to: nil))
        #expect(line(Self.v2.encode(fromOne)) == "DELETE Orders(Region='EU',OrderID=5L)/$links/Customer")
        #expect(line(Self.v4.encode(fromOne)) == "DELETE Orders(Region='EU',OrderID=5)/Customer/$ref")
        #expect(Self.v4.encode(fromOne).body.isEmpty)
        #expect(Self.v4.encode(fromOne).headers["Content-Type"] == nil)
    }

    @Test func `the query of a link deletion percent-encodes the encoded key again`() {
        let unlink = DataModification(
            .unlink(from: Self.customer, navigation: PayloadShop.ordersOfCustomer, to: Self.order))
        #expect(
            Self.v4.encode(unlink).url.hasSuffix(
                "?$id=http://h/s/Orders(Region='O''Neil%2520%2526%2520S%25C3%25B6hne%252F1',OrderID=5)"))
    }

    @Test func `an entity is created with links to existing and to new entities`() {
        let order = EntityBody(
            type: PayloadShop.order, values: ["Region": .string("EU"), "OrderID": .integer(5)],
            bindings: [.init(navigation: PayloadShop.customerOfOrder, targets: [Self.customer])])
        let create = DataModification(.create(in: PayloadShop.orders, order))
        #expect(line(Self.v2.encode(create)) == "POST Orders")
        #expect(
            body(Self.v2.encode(create))
                == #"{"Region":"EU","OrderID":"5","Customer":{"__metadata":{"uri":"http://h/s/Customers(1)"}}}"#)
        #expect(
            body(Self.v4.encode(create))
                == #"{"Region":"EU","OrderID":5,"Customer@odata.bind":"http://h/s/Customers(1)"}"#)

        let customer = EntityBody(
            type: PayloadShop.customer, values: ["Name": .string("n")],
            bindings: [.init(navigation: PayloadShop.ordersOfCustomer, targets: [.contentID("1")])],
            inline: [
                .init(
                    navigation: PayloadShop.ordersOfCustomer,
                    entities: [EntityBody(type: PayloadShop.order, values: ["Note": .null])])
            ])
        let deep = DataModification(.create(in: PayloadShop.customers, customer))
        #expect(
            body(Self.v2.encode(deep)) == #"{"Name":"n","Orders":[{"__metadata":{"uri":"$1"}},{"Note":null}]}"#)
        #expect(
            body(Self.v4.encode(deep)) == #"{"Name":"n","Orders@odata.bind":["$1"],"Orders":[{"Note":null}]}"#)
        let wrapping = RequestEncoder(
            version: .v2, model: PayloadShop.model(.v2), serviceRoot: "http://h/s",
            options: .init(wrapsInlineCollections: true))
        #expect(
            body(wrapping.encode(deep))
                == #"{"Name":"n","Orders":{"results":[{"__metadata":{"uri":"$1"}},{"Note":null}]}}"#)
    }

    @Test func `an entity is created through the navigation property of a related entity`() {
        let body = EntityBody(type: PayloadShop.order, values: ["OrderID": .integer(5)])
        let create = DataModification(
            .createRelated(in: .contentID("1"), navigation: PayloadShop.ordersOfCustomer, body))
        #expect(line(Self.v2.encode(create)) == "POST $1/Orders")
        #expect(line(Self.v4.encode(create)) == "POST $1/Orders")
    }

    @Test func `an update has the method and the headers of the protocol version`() {
        let body = EntityBody(
            type: PayloadShop.order, values: [:],
            bindings: [.init(navigation: PayloadShop.customerOfOrder, targets: [Self.reference(2)])])
        let update = DataModification(
            .update(Self.plainOrder, body, replaces: false), ifMatch: "W/\"1\"", headers: ["accept": "x", "My": "y"])
        let v2 = Self.v2.encode(update)
        #expect(v2.method == "MERGE")
        #expect(self.body(v2) == #"{"Customer":{"__metadata":{"uri":"http://h/s/Customers(2)"}}}"#)
        #expect(
            v2.headers == [
                "DataServiceVersion": "2.0", "MaxDataServiceVersion": "2.0", "Accept": "x",
                "Content-Type": "application/json", "If-Match": "W/\"1\"", "My": "y",
            ])
        let v4 = Self.v4.encode(update)
        #expect(v4.method == "PATCH")
        #expect(self.body(v4) == #"{"Customer@odata.bind":"http://h/s/Customers(2)"}"#)
        #expect(v4.headers["OData-Version"] == "4.0")
        #expect(v4.headers["OData-MaxVersion"] == "4.01")
        let replace = DataModification(.update(Self.plainOrder, body, replaces: true))
        #expect(Self.v4.encode(replace).method == "PUT")
        let tunnel = RequestEncoder(
            version: .v2, model: PayloadShop.model(.v2), serviceRoot: "http://h/s", options: .init(tunnelsMethods: true)
        )
        #expect(tunnel.encode(update).method == "POST")
        #expect(tunnel.encode(update).headers["X-HTTP-Method"] == "MERGE")
    }

    @Test(arguments: [ODataVersion.v2, .v4])
    func `a tunneled request is a POST that names any other method in X-HTTP-Method`(_ version: ODataVersion) {
        let tunnel = RequestEncoder(
            version: version, model: PayloadShop.model(version), serviceRoot: "http://h/s",
            options: .init(tunnelsMethods: true))
        let body = EntityBody(type: PayloadShop.order, values: ["Note": .null])
        let merge = version == .v2 ? "MERGE" : "PATCH"
        let cases: [(DataModification.Action, String?)] = [
            (.create(in: PayloadShop.customers, body), nil), (.update(Self.plainOrder, body, replaces: false), merge),
            (.update(Self.plainOrder, body, replaces: true), "PUT"), (.delete(Self.customer), "DELETE"),
            (.link(from: Self.plainOrder, navigation: PayloadShop.customerOfOrder, to: Self.customer), "PUT"),
            (.unlink(from: Self.plainOrder, navigation: PayloadShop.customerOfOrder, to: nil), "DELETE"),
        ]
        for (action, method) in cases {
            let request = tunnel.encode(DataModification(action))
            #expect(request.method == "POST")
            #expect(request.headers["X-HTTP-Method"] == method)
        }
    }

    @Test func `the content type announces that large numbers are written as strings`() {
        let encoder = RequestEncoder(
            version: .v4, model: PayloadShop.model(.v4), serviceRoot: "http://h/s",
            options: .init(isIEEE754Compatible: true))
        let body = EntityBody(type: PayloadShop.order, values: [:])
        let request = encoder.encode(DataModification(.create(in: PayloadShop.customers, body)))
        #expect(request.headers["Content-Type"] == "application/json;IEEE754Compatible=true")
    }

    @Test func `an entity is deleted without a body`() {
        let delete = DataModification(.delete(Self.customer), ifMatch: "*")
        #expect(line(Self.v4.encode(delete)) == "DELETE Customers(1)")
        #expect(Self.v4.encode(delete).headers["If-Match"] == "*")
        #expect(Self.v4.encode(delete).body.isEmpty)
    }

    @Test func `the body names derived types, and types of dynamic properties that JSON does not determine`() {
        let body = EntityBody(
            type: PayloadShop.premium,
            values: [
                "Rank": .integer(1), "Free": .integer(2), "Text": .string("t"),
                "Home": .complex(ComplexValue(type: "Shop.Town", properties: ["Zip": .integer(1)])),
            ])
        let create = DataModification(.create(in: PayloadShop.customers, body))
        #expect(
            self.body(Self.v4.encode(create))
                == ##"{"@odata.type":"#Shop.Premium","Rank":1,"Free@odata.type":"#Int32","Free":2,"Text":"t","##
                + ##""Home":{"@odata.type":"#Shop.Town","Zip":1}}"##)
        #expect(self.body(Self.v2.encode(create)).hasPrefix(#"{"__metadata":{"type":"Shop.Premium"},"Rank":1,"#))
    }

    @Test func `the body names the derived type of a new entity in a navigation property`() {
        let body = EntityBody(
            type: PayloadShop.order, values: [:],
            inline: [
                .init(
                    navigation: PayloadShop.customerOfOrder,
                    entities: [EntityBody(type: PayloadShop.premium, values: ["Rank": .integer(1)])])
            ])
        let create = DataModification(.create(in: PayloadShop.orders, body))
        #expect(
            self.body(Self.v2.encode(create)) == #"{"Customer":{"__metadata":{"type":"Shop.Premium"},"Rank":1}}"#)
        #expect(self.body(Self.v4.encode(create)) == ##"{"Customer":{"@odata.type":"#Shop.Premium","Rank":1}}"##)
    }

    @Test func `numbers and dates are written in the format of each version`() throws {
        let body = EntityBody(
            type: PayloadShop.customer,
            values: [
                "Long": .integer(1), "Price": .decimal(try #require(DecimalValue("1.50"))), "Ratio": .double(0.5),
                "Weight": .single(1), "Number": .integer(3),
                "Since": .dateTime(try #require(LocalDateTime("1970-01-01T00:00:01"))),
                "Seen": .dateTimeOffset(try #require(GlobalDateTime("1970-01-01T01:00:00+01:00"))),
                "At": .duration(try #require(DayTimeDuration("PT26H"))), "Data": .binary([0xFF, 0xEF]),
            ])
        let create = DataModification(.create(in: PayloadShop.customers, body))
        #expect(
            self.body(Self.v2.encode(create))
                == #"{"Long":"1","Price":"1.50","Ratio":"0.5","Weight":"1","Number":3,"Since":"/Date(1000)/","#
                + #""Seen":"/Date(0+0060)/","At":"PT26H","Data":"/+8="}"#)
        #expect(
            self.body(Self.v4.encode(create))
                == #"{"Long":1,"Price":1.50,"Ratio":0.5,"Weight":1,"Number":3,"Since":"1970-01-01T00:00:01","#
                + #""Seen":"1970-01-01T01:00:00+01:00","At":"P1DT2H","Data":"_-8="}"#)
    }
}
