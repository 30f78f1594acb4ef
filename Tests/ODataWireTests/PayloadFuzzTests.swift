import EDM
import ODataWire
import SeededRandom
import Testing

@Suite struct `Nothing that a service or a client sends traps` {
    static let documents = [
        #"""
        {"d":{"__count":"1","results":[{"__metadata":{"uri":"u","type":"Shop.Customer","etag":"e"},"CustomerID":1,"Long":"12",
        "Price":"1.50","Since":"/Date(1330558323000+0060)/","At":"PT1H2M3.5S","Data":"AQI=","Address":{"Street":"s","Zip":1},
        "Orders":{"results":[{"Region":"EU","OrderID":"1"}],"__next":"n"}}],"__next":"x"}}
        """#,
        ##"""
        {"@odata.context":"c","@odata.count":1,"value":[{"@odata.type":"#Shop.Premium","CustomerID":1,"Price":1e3,"Ratio":"INF",
        "Day":"2020-02-29","Clock":"10:00:00.5","Span":"-P1DT1S","Seen":"2020-01-01T00:00:00+01:00","Mood":"Calm","Tags":["a"],
        "Homes":[{"@odata.type":"#Shop.Town","X":1}],"Orders@odata.bind":["a"],"Free":[1,{"y":null}]}],"@odata.nextLink":"n"}
        """##,
        ##"""
        {"@odata.context":"http://h/$metadata#Customers(Name)/$delta","value":[{"@removed":{"reason":"changed"},"CustomerID":1},
        {"@odata.context":"#Customers/$deletedEntity","id":"Customers(1)","reason":"deleted"},{"@context":"#Orders/$entity",
        "OrderID":1,"Customer":{"@removed":{},"@id":"u"}},{"CustomerID":2,"Orders@delta":[{"@removed":{},"@id":"o"},{"@id":"p"}]},
        {"@context":"#Orders('a')/Customer(%41)/$link","source":"a","relationship":"b","target":"c"},
        {"@context":"#Orders/$deletedLink","source":"a","relationship":"b"}],"@odata.deltaLink":"d"}
        """##,
        ##"{"@odata.context":"#Customers/Shop.Premium(Rank)/$deletedEntity","@removed":{"reason":"deleted"},"CustomerID":1}"##,
    ]

    private static let results = [
        TypeReference(.complex(name: "Shop.Address")), TypeReference(.primitive(.int64), isCollection: true),
        TypeReference(.entity(name: PayloadShop.customer.name)),
        TypeReference(.entity(name: PayloadShop.customer.name), isCollection: true),
    ]

    @Test(arguments: ODataVersion.allCases)
    func `payloads with damaged bytes are read or rejected`(version: ODataVersion) {
        let model = PayloadShop.model(version)
        let reader = PayloadReader(version: version, model: model)
        let bodies = RequestBodyReader(version: version, model: model)
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let digits = Array("0123456789-+.eE\"{}[],:/".utf8)
        for document in Self.documents {
            for _ in 0..<2000 {
                var bytes = Array(document.utf8)
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(contentsOf: bytes[place..<min(place + 9, bytes.count)], at: place)
                    default: bytes[place] = digits[Int.random(in: 0..<digits.count, using: &random)]
                    }
                }
                _ = try? reader.feed(bytes, type: PayloadShop.customer)
                _ = try? reader.entity(bytes, type: PayloadShop.customer)
                _ = try? reader.deltaItem(bytes, type: PayloadShop.customer)
                _ = try? reader.entityReferences(bytes)
                _ = try? reader.serviceDocument(bytes)
                _ = try? reader.value(bytes, type: TypeReference(.complex(name: "Shop.Address")))
                for type in Self.results { _ = try? reader.result(bytes, type: type, name: "results") }
                _ = try? bodies.entity(bytes, type: PayloadShop.customer)
                _ = try? bodies.reference(bytes)
                _ = ServiceErrorReader.read(bytes)
                _ = PayloadReader.count(bytes)
            }
        }
    }
}
