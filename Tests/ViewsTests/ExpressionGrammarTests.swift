import EDM
import ODataQuery
import Operations
import SyncCore
import Testing

@testable import Views

/// Expressions of the grammar of 4.01 beyond comparisons of properties: SQL and the evaluator return the same, correct
/// results, with null among the values.
struct ExpressionGrammarTests {
    /// Returns customers 1 to 3, and orders 11 and 12 of the first customer, 13 of the second one and 14 without a
    /// customer.
    private func shop() throws -> SmallShop {
        let shop = try SmallShop()
        for id in 1...3 { try shop.put("Customers", UInt64(id), ["Name": .string("C\(id)")]) }
        try shop.put(
            "Orders", 11,
            [
                "Number": .integer(5), "Text": .string("x"), "Took": .duration(DayTimeDuration("PT1H")!),
                "Paid": .boolean(true),
                "Mood": .enumeration("Awful"), "Price": .decimal(DecimalValue("10.20")!),
            ])
        try shop.put(
            "Orders", 12,
            [
                "Number": .integer(-5), "Text": .string("Bad"), "Took": .duration(DayTimeDuration("PT2H")!),
                "Paid": .boolean(false), "Mood": .enumeration("Bad"), "Weight": .double(0.005),
            ])
        try shop.put("Orders", 13, ["Number": .integer(0)])
        try shop.put("Orders", 14, [:])
        for (order, customer) in [(11, 1), (12, 1), (13, 2)] { try shop.link(UInt64(order), to: UInt64(customer)) }
        return shop
    }

    @Test(
        arguments: [
            // A key in a path refers to that entity, or to no entity, whose properties are null.
            ("Customers?$filter=Orders(11)/Text eq 'x'", [1]), ("Customers?$filter=Orders(ID=11)/Text eq 'x'", [1]),
            ("Customers?$filter=Orders(11)/Text eq null", [2, 3]),
            ("Customers?$filter=Orders(11)/Text ne 'x'", [2, 3]),
            ("Customers?$filter=not (Orders(11)/Number gt 1)", [2, 3]),
            ("Customers?$filter=Orders(99)/Number eq 5", []),
            ("Customers?$filter=Orders(@k)/Number eq 5&@k=11", [1]),
            ("Customers?$filter=Orders(ID=@k)/Number lt 0&@k=12", [1]),
            ("Customers?$filter=Orders/$filter(Number lt 0)(12)/Text eq 'Bad'", [1]),
            ("Customers?$filter=Orders/$filter(Number lt 0)(11)/Text eq 'x'", []),
            ("Orders?$filter=Customer/Orders(12)/Text eq 'Bad'", [11, 12]),
            ("Orders?$filter=Customer/Orders(12)/Text eq null", [13, 14]),
            ("Customers?$orderby=Orders(12)/Number desc,ID desc", [1, 3, 2]),
            ("Customers?$compute=Orders(11)/Number as N&$filter=N eq 5", [1]),
            // A path from $root leads to a set, whatever entity the condition is about.
            ("Orders?$filter=$root/Orders(11)/Text eq Text", [11]),
            ("Customers?$filter=$root/Customers(2)/Name eq Name", [2]),
            ("Customers?$filter=$root/Orders(99)/Text eq null", [1, 2, 3]),
            ("Customers?$filter=$root/Orders/$count eq 4", [1, 2, 3]),
            ("Customers?$filter=$root/Orders/any(o:o/Text eq 'y')", []),
            // The first condition that is true determines the result; null is not true.
            ("Orders?$filter=case(Number gt 0:1,Number lt 0:-1,true:0) eq 1", [11]),
            ("Orders?$filter=case(Number gt 0:1,Number lt 0:-1,true:0) eq 0", [13, 14]),
            ("Orders?$filter=case(Number gt 0:1,Number lt 0:-1) eq null", [13, 14]),
            ("Orders?$filter=case(Number eq 5:10:20,true:5) eq 5", [12, 13, 14]),
            ("Orders?$filter=case(Paid:true,Number eq 0:false)", [11]),
            ("Orders?$filter=not case(Paid:true,Number eq 0:false)", [13]),
            // Lists of literals, also empty ones.
            ("Orders?$filter=Number in (5,-5,null)", [11, 12, 14]), ("Orders?$filter=Number in ()", []),
            ("Orders?$filter=not (Number in (5))", [12, 13, 14]), ("Orders?$filter=Mood in ('Awful')", [11]),
            ("Orders?$filter=Mood in (S.Mood'1',S.Mood'0')", [11, 12]),
            ("Orders?$filter=Number in (@list)&@list=[5,0]", [11, 13]),
            // Enumeration members by signed numbers and from strings.
            ("Orders?$filter=Mood eq S.Mood'+1'", [11]), ("Orders?$filter=cast(Text,S.Mood) eq S.Mood'Bad'", [12]),
            ("Orders?$filter=cast(Text,S.Mood) eq null", [11, 13, 14]), ("Orders?$filter=isof(Mood,S.Mood)", [11, 12]),
            ("Orders?$filter=isof(Order)", [11, 12, 13, 14]), ("Orders?$filter=isof(Customer)", []),
            ("Orders?$filter=isof(Customer,Customer)", [11, 12, 13]),
            // A duration without its prefix.
            ("Orders?$filter=Took eq 'PT1H'", [11]), ("Orders?$filter='PT1H' lt Took", [12]),
            ("Orders?$filter=Took ne 'PT1H'", [12, 13, 14]),
            ("Orders?$filter=Took add 'PT1H' eq duration'PT2H'", [11]),
            ("Orders?$filter=totalseconds('PT1S') add Number eq 6", [11]),
            // Numbers with a sign or an exponent.
            ("Orders?$filter=Number eq %2B5", [11]), ("Orders?$filter=Number sub -5 eq 0", [12]),
            ("Orders?$filter=Weight eq 5e-3", [12]),
            ("Orders?$filter=Price eq 1.02e1", [11]), ("Orders?$filter=- Number gt 0", [12]),
            // Collections.
            ("Orders?$filter=hassubset([1,2.0,2],[2,1.0])", [11, 12, 13, 14]),
            ("Orders?$filter=hassubsequence([4,1,3],[4.0,3])", [11, 12, 13, 14]),
            ("Orders?$filter=hassubset([1],[1,1])", []),
            ("Orders?$filter=isof([1,2],Collection(Edm.Int32))", [11, 12, 13, 14]),
            ("Orders?$filter=isof([1,'a'],Collection(Edm.Int32))", []),
        ] as [(String, [UInt64])])
    func `SQL and the evaluator return the results that the standard requires`(url: String, expected: [UInt64]) throws {
        let shop = try shop()
        #expect(try shop.find(url) == expected)
        #expect(try shop.findInMemory(url) == expected)
    }

    @Test(arguments: [
        ("Orders?$filter=Text/@S.Note eq 'x'", "@S.Note"),
        ("Orders?$filter=Number in (Number)", "\"in\""), ("Customers?$filter=Orders/$count($search=x) gt 0", "$search"),
        ("Orders?$filter=concat([1],Text) eq null and Number eq 5", "concat"),
        ("Orders?$apply=traverse($root/Orders,Tree,ID,preorder,filter(Paid),Text desc)", "traverse"),
    ])
    func `an expression that only the service can evaluate is refused by name`(url: String, name: String) throws {
        let shop = try shop()
        let error = #expect(throws: EvaluationError.self) { try shop.find(url) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }
}
