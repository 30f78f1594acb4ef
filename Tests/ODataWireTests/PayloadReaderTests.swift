import EDM
import ODataWire
import Testing

@Suite struct `The payload reader` {
    let v2 = PayloadReader(version: .v2, model: PayloadShop.model(.v2))
    let v4 = PayloadReader(version: .v4, model: PayloadShop.model(.v4))

    @Test func `a V2 entity is read with its metadata, exact numbers and expanded links`() throws {
        let json = #"""
            {"d":{"__metadata":{"id":"http://h/Customers(1)","uri":"http://h/Customers(1)","type":"Shop.Customer","etag":"W/\"1\""},
            "CustomerID":1,"Name":"Ä","Active":true,"Long":"9007199254740993","Price":"1.50","Ratio":"0.1","Weight":1.5,
            "Since":"\/Date(0)\/","Seen":"/Date(0+0060)/","At":"PT1H","Token":"00000000-0000-0000-0000-000000000001",
            "Data":"AQI=","Address":{"__metadata":{"type":"Shop.Address"},"Street":"S","Zip":null},
            "Orders":{"results":[{"Region":"EU","OrderID":"1","Customer":{"__deferred":{"uri":"http://h/x"}}}],"__next":"n"},
            "Unknown":1,"More":{"__deferred":{"uri":"u"}}}}
            """#
        let entity = try v2.entity(Array(json.utf8), type: PayloadShop.customer)
        #expect(entity.id == "http://h/Customers(1)")
        #expect(entity.editLink == "http://h/Customers(1)")
        #expect(entity.type == "Shop.Customer")
        #expect(entity.etag == "W/\"1\"")
        #expect(entity.values["Long"] == .integer(9_007_199_254_740_993))
        #expect(entity.values["Price"] == DecimalValue("1.50").map { .decimal($0) })
        #expect(entity.values["Ratio"] == .double(0.1))
        #expect(entity.values["Weight"] == .single(1.5))
        #expect(entity.values["Since"] == LocalDateTime("1970-01-01T00:00:00").map { .dateTime($0) })
        #expect(entity.values["Seen"] == GlobalDateTime("1970-01-01T01:00:00+01:00").map { .dateTimeOffset($0) })
        #expect(entity.values["At"] == DayTimeDuration("PT1H").map { .duration($0) })
        #expect(entity.values["Data"] == .binary([1, 2]))
        #expect(
            entity.values["Address"]
                == .complex(ComplexValue(properties: ["Street": .string("S"), "Zip": .null])))
        #expect(entity.expanded.map(\.navigation) == ["Orders"])
        #expect(entity.expanded.first?.nextLink == "n")
        #expect(entity.expanded.first?.entities.first?.values["OrderID"] == .integer(1))
        #expect(entity.expanded.first?.entities.first?.expanded == [])
        #expect(entity.ignored == ["Unknown"])
    }

    @Test func `a V4 entity of a derived open type is read with control information in both spellings`() throws {
        for prefix in ["@odata.", "@"] {
            let json = """
                {"\(prefix)context":"c","\(prefix)type":"#Shop.Premium","\(prefix)id":"Customers(1)","\(prefix)etag":"e",
                "CustomerID":1,"Long":9007199254740993,"Price":12345678901234567890.12,"Ratio":"INF","Mood":"Calm,Loud",
                "Day":"2020-02-29","Clock":"10:00:00","Span":"PT1S","Data":"_-8","Rank":"7","Tags":["a"],"Face":"x",
                "Homes":[{"\(prefix)type":"#Shop.Town","Street":"s","Mayor":"m","Extra":1}],
                "Place":{"type":"Point","coordinates":[1.0,2]},
                "Free":1,"Odd":0.12345678901234567890,"Typed\(prefix)type":"#Decimal","Typed":1.50,"Name@Core.X":1,
                "Orders\(prefix)count":1,"Orders\(prefix)nextLink":"next","Orders":[{"Region":"EU","OrderID":1,"Customer":null}],
                "#Shop.Do":{}}
                """
            let entity = try v4.entity(Array(json.utf8), type: PayloadShop.customer)
            #expect(entity.type == "Shop.Premium")
            #expect(entity.id == "Customers(1)")
            #expect(entity.values["Long"] == .integer(9_007_199_254_740_993))
            #expect(entity.values["Price"] == DecimalValue("12345678901234567890.12").map { .decimal($0) })
            #expect(entity.values["Ratio"] == .double(.infinity))
            #expect(entity.values["Mood"] == .enumeration("Calm,Loud"))
            #expect(entity.values["Data"] == .binary([0xFF, 0xEF]))
            #expect(entity.values["Rank"] == .integer(7))
            #expect(entity.values["Face"] == nil)
            let town = ComplexValue(
                type: "Shop.Town", properties: ["Street": .string("s"), "Mayor": .string("m"), "Extra": .double(1)])
            #expect(entity.values["Homes"] == .collection([.complex(town)]))
            #expect(entity.values["Place"] == .raw(#"{"type":"Point","coordinates":[1.0,2]}"#))
            #expect(entity.values["Free"] == .double(1))
            #expect(entity.values["Odd"] == DecimalValue("0.12345678901234567890").map { .decimal($0) })
            #expect(entity.values["Typed"] == DecimalValue("1.5").map { .decimal($0) })
            #expect(entity.expanded.first?.nextLink == "next")
            #expect(entity.expanded.first?.entities.first?.expanded == [.init(navigation: "Customer", entities: [])])
            #expect(entity.ignored == [])
        }
    }

    @Test(arguments: [
        (#"{"CustomerID":"x"}"#, PayloadError.Code.typeMismatch, "/CustomerID"),
        (#"{"Number":2147483648}"#, .typeMismatch, "/Number"), (#"{"Name":1}"#, .typeMismatch, "/Name"),
        (#"{"Active":"true"}"#, .typeMismatch, "/Active"), (#"{"Tags":["a",1]}"#, .typeMismatch, "/Tags/1"),
        (#"{"Address":{"Zip":1.5}}"#, .typeMismatch, "/Address/Zip"), (#"{"Address":1}"#, .typeMismatch, "/Address"),
        (#"{"Orders":[{"OrderID":{}}]}"#, .typeMismatch, "/Orders/0/OrderID"),
        (##"{"@odata.type":"#Shop.Order"}"##, .unknownType, ""), ("[]", .unexpectedShape, ""),
        ("{", .malformedJSON, ""),
        (#"{"Price":1e99999}"#, .typeMismatch, "/Price"), (#"{"Ratio":1e400}"#, .typeMismatch, "/Ratio"),
    ])
    func `a value of the wrong type is an error with its path`(json: String, code: PayloadError.Code, path: String)
        throws
    {
        let error = try #require(throws: PayloadError.self) {
            try v4.entity(Array(json.utf8), type: PayloadShop.customer)
        }
        #expect(error.code == code)
        #expect(error.path == path)
    }

    @Test(arguments: [
        #"{"d":{"__count":"3","results":[{"CustomerID":1},{"CustomerID":2}],"__next":"n"}}"#,
        #"{"d":{"results":[{"CustomerID":1},{"CustomerID":2}],"__next":"n","__count":"3"}}"#,
        #"{"results":[{"CustomerID":1},{"CustomerID":2}],"__next":"n","__count":3}"#,
    ])
    func `items, count and next link of a V2 page are read in any order`(json: String) throws {
        let feed = try v2.feed(Array(json.utf8), type: PayloadShop.customer)
        #expect(feed.entities.map { $0.values["CustomerID"] } == [.integer(1), .integer(2)])
        #expect(feed.count == 3)
        #expect(feed.nextLink == "n")
    }

    @Test(arguments: [#"{"d":[{"CustomerID":1}]}"#, #"[{"CustomerID":1}]"#])
    func `a V2 page may be a plain array`(json: String) throws {
        #expect(try v2.feed(Array(json.utf8), type: PayloadShop.customer).entities.count == 1)
    }

    @Test func `a delta page returns removed entities and links separately from its entities`() throws {
        let json = #"""
            {"@odata.context":"c","value":[{"CustomerID":1},{"@removed":{"reason":"deleted"},"CustomerID":2},
            {"@odata.context":"#Customers/$deletedEntity","id":"Customers(3)","reason":"deleted"},
            {"@odata.context":"#Customers/$link","source":"a","relationship":"r","target":"b"}],"@odata.deltaLink":"d"}
            """#
        let feed = try v4.feed(Array(json.utf8), type: PayloadShop.customer)
        #expect(feed.entities.count == 1)
        #expect(feed.removed.map(\.entity.values["CustomerID"]) == [.integer(2), nil])
        #expect(feed.removed.map(\.entity.id) == [nil, "Customers(3)"])
        #expect(
            feed.links == [LinkChange(isAdded: true, set: "Customers", source: "a", relationship: "r", target: "b")])
        #expect(feed.deltaLink == "d")
    }

    @Test func `an error in a page has the path of the item`() throws {
        let json = #"{"value":[{"CustomerID":1},{"CustomerID":true}]}"#
        let error = try #require(throws: PayloadError.self) {
            try v4.feed(Array(json.utf8), type: PayloadShop.customer)
        }
        #expect(error.path == "/1/CustomerID")
    }

    @Test(arguments: [#"{"error":{}}"#, #"{"value":{}}"#, "null", "\"x\"", "{}"])
    func `a document without a collection is rejected as a page`(json: String) throws {
        let error = try #require(throws: PayloadError.self) {
            try v4.feed(Array(json.utf8), type: PayloadShop.customer)
        }
        #expect(error.code == (json.contains("error") ? .serviceError : .unexpectedShape))
    }

    @Test func `a single property is read from the wrapper of its version`() throws {
        let name = try #require(PayloadShop.customer.findProperty("Name"))
        let address = try #require(PayloadShop.customer.findProperty("Address"))
        let street = Value.complex(ComplexValue(properties: ["Street": .string("s")]))
        #expect(try v4.value(Array(#"{"@odata.context":"c","value":"x"}"#.utf8), of: name) == .string("x"))
        #expect(try v4.value(Array(#"{"@odata.context":"c","Street":"s"}"#.utf8), of: address) == street)
        #expect(try v2.value(Array(#"{"d":{"Name":"x"}}"#.utf8), of: name) == .string("x"))
        #expect(try v2.value(Array(#"{"d":{"Address":{"Street":"s"}}}"#.utf8), of: address) == street)
        #expect(try v2.value(Array(#"{"d":{"Street":"s"}}"#.utf8), of: address) == street)
    }

    @Test(
        arguments: [("12", 12), ("\u{FEFF} 12\r\n", 12), ("12x", nil), ("", nil), ("1 2", nil)] as [(String, Int64?)])
    func `a count is read as a plain number`(text: String, count: Int64?) {
        #expect(PayloadReader.count(Array(text.utf8)) == count)
    }

    @Test func `errors of SAP gateways keep their details`() throws {
        let json = #"""
            {"error":{"code":"SY/530","message":{"lang":"en","value":"No"},"innererror":{"errordetails":[
            {"code":"A","message":"a","propertyref":"P","severity":"error"},{"x":1}]}}}
            """#
        let error = try #require(ServiceErrorReader.read(Array(json.utf8)))
        #expect(error.code == "SY/530")
        #expect(error.message == "No")
        #expect(error.details == [.init(code: "A", message: "a", target: "P")])
    }

    @Test func `a date with escaped slashes is read from a payload`() throws {
        let reader = PayloadReader(version: .v2, model: PayloadShop.model(.v2))
        let json = #"{"d":{"CustomerID":1,"Since":"\/Date(0+0060)\/","Seen":"\/Date(0-0090)\/"}}"#
        let entity = try reader.entity(Array(json.utf8), type: PayloadShop.customer)
        #expect(entity.values["Since"] == LocalDateTime("1970-01-01T01:00:00").map { .dateTime($0) })
        #expect(entity.values["Seen"] == GlobalDateTime("1969-12-31T22:30:00-01:30").map { .dateTimeOffset($0) })
    }
}
