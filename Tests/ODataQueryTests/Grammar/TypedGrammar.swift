/// The grammar of expressions, query options and resource paths over the model of ``GrammarWalkTests``.
///
/// All sentences of a rule have the same type, so that each of them also passes the type check. The notation cannot
/// contain a quotation mark in a text: `DQ` stands for one.
enum TypedGrammar {
    static let text = literals + expressions + navigation + options + apply + paths

    private static let literals = #"""
        ws = " " / "  "
        bws = [ ws ]
        comma = bws "," bws
        digit = "0" / "1" / "2" / "5" / "9"
        hex = digit / "a" / "B" / "f"
        integer = [ sign ] 1*3digit
        sign = "-" / "+"
        decimal = integer "." 1*3digit
        double = %s"1.5e20" / %s"-2E-20" / %s"INF" / %s"-INF"
        string = "'" *char "'"
        char = "a" / "Z" / "''" / " " / "é" / "/" / ";" / "(" / ")" / "," / "&" / "%" / "+" / ":" / "$" / DQ
        DQ = %s"DQ"
        boolean = "true" / "false"
        guid = 8hex "-" 4hex "-" 4hex "-" 4hex "-" 12hex
        date = year "-" month "-" day
        year = [ "-" ] ( "0001" / "1999" / "2024" / "9999" / "12345" )
        month = "01" / "12"
        day = "01" / "28"
        hour = "00" / "10" / "23"
        minute = "00" / "59"
        time = hour ":" minute [ ":" minute [ "." 1*12digit ] ]
        moment = date "T" time ( "Z" / sign hour ":" minute )
        duration = "duration" "'" [ "-" ] "P" ( 1*2digit "D" [ "T" span ] / "T" span ) "'"
        span = 1*2digit "H" [ 1*2digit "M" ] / 1*2digit "M" / 1*2digit [ "." 1*3digit ] "S"
        binary = "binary" "'" *( "AQID" / "-_-_" ) [ "AQI=" / "AQ==" / "AQI" / "AQ" ] "'"
        colour = %s"S.Colour" "'" member *( "," member ) "'"
        member = %s"Red" / %s"Blue" / %s"-1" / %s"+2" / %s"3"
        point = "geography" "'SRID=" 1*5digit ";Point" position "'"
        position = "(" coordinate " " coordinate [ " " coordinate ] [ " " coordinate ] ")"
        coordinate = [ "-" ] 1*2digit [ "." 1*2digit ] / %s"INF" / %s"NaN"
        line = "geography" "'SRID=" 1*5digit ";LineString(" coordinates 1*( "," coordinates ) ")'"
        coordinates = coordinate " " coordinate
        null = %s"null"
        """#

    private static let expressions = #"""

        bool = boolTerm [ ws ( "and" / "or" ) ws bool ]
        boolTerm = boolPrimary / comparison / membership / colourOperand ws "has" ws ( colour / "'" member "'" )
        boolPrimary = boolean / %s"Paid" / "not" ws boolPrimary / "(" bws bool bws ")" / test / lambda / boolChoice
        comparison = num ws order ws num / str ws order ws str / dat ws order ws dat / mom ws order ws mom
               / dur ws order ws dur / tim ws order ws tim / %s"Token" ws equality ws guid / %s"Data" ws equality ws binary
               / colourOperand ws equality ws colour / strings ws equality ws strings / %s"Supplier" ws equality ws null
               / any ws equality ws null / %s"Paid" ws equality ws boolean / %s"Took" ws equality ws "'PT1H'"
        order = equality / "gt" / "ge" / "lt" / "le"
        equality = "eq" / "ne"
        any = num / str / dat / mom / dur / tim / %s"Token" / %s"Data" / %s"Place" / %s"Colour"
        colourOperand = %s"Colour" / "cast" "(" str "," %s"S.Colour" ")"
        test = ( "contains" / "startswith" / "endswith" / "matchesPattern" ) "(" bws str comma str bws ")"
               / ( "contains" / "startswith" / "endswith" / "hassubset" / "hassubsequence" ) "(" strings comma strings ")"
               / "isof" "(" bws [ any comma ] type bws ")" / "isdefined" "(" %s"Name" ")"
               / "geo.intersects" "(" %s"Place" comma point ")" / %s"S.Near(" bws %s"Of=" point bws ")"
        membership = numPrimary ws "in" ws list / str ws "in" ws ( strings / "(" [ string *( comma string ) ] ")" )
        list = "(" bws [ ( integer / decimal / null ) *( comma ( integer / decimal / double / null ) ) ] bws ")"
        boolChoice = "case" "(" bws choices bws ")"
        choices = bool ":" bws bool *( comma bool bws ":" bool )
        num = numTerm [ ws ( "add" / "sub" / "mul" / "div" / "divby" / "mod" ) ws num ]
        numTerm = numPrimary / "-" bws %s"Price" / "-(" num ")"
        numPrimary = integer / decimal / double / %s"ID" / %s"Price" / %s"Weight" / "(" bws num bws ")" / numCall / count
               / path %s"/Price" / numChoice
        numCall = ( "round" / "floor" / "ceiling" ) "(" bws num bws ")" / "length" "(" ( str / strings ) ")"
               / "indexof" "(" ( str comma str / strings comma strings ) ")"
               / ( "year" / "month" / "day" ) "(" ( dat / mom ) ")" / "totaloffsetminutes" "(" mom ")"
               / ( "hour" / "minute" / "second" / "fractionalseconds" ) "(" ( mom / tim ) ")"
               / "totalseconds" "(" ( dur / "'PT1S'" ) ")" / "cast" "(" str "," %s"Edm.Decimal" ")"
               / "geo.distance" "(" %s"Place" comma point ")" / "geo.length" "(" line ")"
        numChoice = "case" "(" bool ":" num *( "," bool ":" num ) ")"
        str = string / %s"Name" / %s"Address/City" / strCall / path %s"/Name" / %s"Items(Line=1,Part='a')/Text"
        strCall = ( "tolower" / "toupper" / "trim" ) "(" bws str bws ")" / "concat" "(" str comma str ")"
               / "substring" "(" bws str comma num [ comma num ] bws ")" / "cast" "(" num "," %s"Edm.String" ")"
        strings = %s"Tags" / "[" bws [ jsonString *( comma ( jsonString / string ) ) ] bws "]"
               / "concat" "(" strings comma strings ")" / "substring" "(" strings comma num ")"
               / %s"Tags/$filter(" strictThis ")"
        strictThis = "contains" "(" %s"$this" comma string ")" / %s"$this" ws "eq" ws ( string / %s"$it/Name" )
        jsonString = DQ *( "a" / "é" / %s"\n" / %s"\\" / %s"\u00e9" / "/" / "'" / ":" ) DQ
        dat = date / %s"Day" / "date" "(" mom ")"
        mom = moment / %s"Placed" / ( "now" / "mindatetime" / "maxdatetime" ) "(" bws ")" / %s"Placed" ws "add" ws dur
        dur = duration / %s"Took" / dur2 / %s"Took" ws "add" ws "'PT1H'"
        dur2 = %s"Took" ws ( "add" / "sub" ) ws duration / %s"Took" ws "mul" ws integer / "-" %s"Took"
        tim = time / %s"At" / "time" "(" mom ")"
        type = %s"Edm.String" / %s"Edm.Int32" / %s"S.Special" / %s"Special" / %s"Collection(Edm.String)" / %s"S.Colour"
        """#

    private static let navigation = #"""

        path = %s"Supplier/Main" / [ %s"$it/" ] %s"Related" key / %s"S.Special/Best" / %s"Special/Best" / %s"Supplier/Products" key
               / %s"Related/S.Special" key / %s"Related/$filter(" bool ")" key / function key / %s"Related/S.Best()"
               / %s"$root/Products" key / %s"$root/Rated(" %s"Least=1)" key / %s"$root/Star"
        key = "(" ( integer / %s"@p" / %s"ID=" integer ) ")"
        function = %s"Related/S.Top(" [ bws %s"N=" num [ comma %s"By=" str ] ] bws ")"
        collection = %s"Related" / function / %s"Related/S.Special" / %s"$it/Related" / path %s"/Related"
               / collection2 %s"/$filter(" bool ")"
        collection2 = %s"Related" / %s"Supplier/Products"
        count = collection %s"/$count" / %s"Tags/$count" / %s"Items/$count"
               / collection %s"/$count(" [ "$" ] "filter" %s"=" bool [ ";" [ "$" ] "search" %s"=blue" ] ")"
               / collection %s"/aggregate(" aggregatable ")"
        aggregatable = %s"$count" / %s"Price with " method / %s"Price mul 2 with max" / %s"Price with sum from Name with average"
        method = %s"sum" / %s"min" / %s"max" / %s"average" / %s"countdistinct" / %s"S.median"
        lambda = collection "/" ( "any" / "all" ) "(" bws %s"x" bws ":" bws item bws ")" / collection "/" "any" "(" bws ")"
               / %s"Tags/any(t:t eq " str %s")" / %s"Items/any(i:i/Line gt 1 and " item2 ")"
        item = %s"x/Price" ws order ws num / %s"x/Paid" / %s"x/Name" ws order ws str / "not" ws ( %s"x/Paid" / "(" item ")" ) / bool
        item2 = %s"i/Text" ws order ws str
        """#

    private static let options = #"""

        option = "$" optionText
        optionText = "filter" %s"=" bool / "orderby" %s"=" orders / "compute" %s"=" computes / "select" %s"=" selects
               / "expand" %s"=" expands / "search" %s"=" search / "top" %s"=" 1*2digit / "skip" %s"=" 1*2digit
               / "count" %s"=" boolean / "index" %s"=" [ "-" ] digit / "format" %s"=json"
               / "schemaversion" %s"=" ( "*" / "1.0" )
        orders = term [ ws ( "asc" / "desc" ) ] *( comma term [ ws ( "asc" / "desc" ) ] )
        term = num / str / dat / mom / dur / bool / %s"Colour"
        computes = ( num / str / bool ) ws "as" ws %s"C1"
        selects = selected *( comma selected )
        selected = "*" / %s"Name" / %s"Address" / %s"Address/City" / %s"Address(" selectOption ")" / %s"Tags" / %s"S.Special/Extra"
               / %s"Tags(" tagOption [ ";" %s"$skip=1" ] ")" / %s"Related" / %s"Special/Extra" / %s"S.*" / %s"S.Top(N,By)"
               / %s"@S.Note" / %s"Addresses(" %s"$filter=City eq 'a'" ";" "$" "top=1" ")" / %s"Photo"
        selectOption = %s"$select=City" / "select" %s"=*" / %s"$select=Zip,City;$compute=Zip add 1 as Next"
        tagOption = %s"$top=1" / %s"$filter=" strictThis
        expands = expanded *( comma expanded )
        expanded = %s"Related" [ nested / %s"/$ref" [ counted ] / %s"/$count" [ searched ] ] / "*" [ %s"/$ref" / %s"($levels=max)" ]
               / %s"Supplier" [ %s"($levels=2)" ] / %s"Supplier($expand=Products" nested ")" / %s"S.Special/Best" / %s"Photo"
               / %s"Related/S.Special" [ nested ] / %s"$value" / %s"Address/Country" / %s"@S.Note" / %s"Items"
        nested = "(" nestedOption ")"
        nestedOption = "$" optionNested / optionNested
        optionNested = "filter" %s"=" bool / "orderby" %s"=" orders / "select" %s"=" selects / "expand" %s"=" expands
               / "search" %s"=" search / "top" %s"=1" / "count" %s"=true" / "compute" %s"=" computes / "levels" %s"=3"
        counted = "(" ( %s"$top=1" / %s"$filter=" bool / %s"$orderby=" orders / %s"$count=true" ) ")"
        searched = "(" ( %s"$search=blue" / %s"$filter=" bool ) ")"
        search = searchTerm [ ws [ ( %s"AND" / %s"OR" ) ws ] search ]
        searchTerm = %s"blue" / %s"9,81" / %s"NOT" ws searchTerm / "(" bws search bws ")" / DQ "a b" DQ / %s"Daniel's" / %s"ANDY"
        """#

    private static let apply = #"""

        transformations = *( preserving "/" ) transformation
        transformation = preserving / %s"aggregate(" bws aggregate [ comma aggregate2 ] bws ")" / %s"groupby(" groups ")"
               / %s"compute(" bws num %s" as C1" bws ")" / %s"concat(" transformations comma transformations ")"
               / ( %s"join" / %s"outerjoin" ) %s"(Related as J" [ comma transformations ] ")" / %s"join(Related/S.Special as J)"
               / %s"nest(" transformations %s" as N)" / %s"addnested(Related," transformations %s" as N)"
               / %s"addnested(Addresses/Country,identity as N)" / %s"S.Condense(N=1)"
        aggregate = aggregatable2 [ ws %s"from Supplier/Name with max" ] %s" as A1" / %s"$count as A1" / %s"Related/$count as A1"
        aggregate2 = %s"Price with max as A2"
        aggregatable2 = num ws %s"with" ws ( %s"sum" / %s"average" ) / %s"Related/Price with min" / %s"Supplier with countdistinct"
               / %s"S.Special/Extra with max" / %s"Related/S.Special/Extra with max"
        groups = bws "(" bws group *( comma %s"Name" ) bws ")" bws [ comma %s"aggregate(" aggregate ")" ]
        group = %s"Day" / %s"Supplier/Name" / %s"Address/City" / %s"Supplier" / %s"rollup(Supplier/Name,Paid)"
               / %s"rolluprecursive(" hierarchy [ comma relatives *( "/" relatives ) ] ")" / %s"rollup(Regions)"
        preserving = %s"identity" / %s"filter(" bws bool bws ")" / %s"orderby(" orders ")" / %s"top(1)" / %s"skip(1)"
               / ( %s"topcount" / %s"topsum" / %s"toppercent" / %s"bottomcount" / %s"bottomsum" / %s"bottompercent" )
                 "(" bws amount comma num bws ")" / %s"search(" bws search bws ")" / %s"search('(')" / relatives / traversal
        amount = integer / %s"$these/$count div 2" / %s"$these/aggregate(Price with max)"
        relatives = ( %s"ancestors" / %s"descendants" ) "(" bws hierarchy comma preserving *( "/" preserving ) bws
               [ "," bws digit bws ] [ "," bws %s"keep start" bws ] ")"
        traversal = %s"traverse(" bws hierarchy comma ( %s"preorder" / %s"postorder" ) bws
               [ "," bws preserving *( "/" preserving ) bws ] [ "," bws orders bws ] ")"
        hierarchy = %s"$root/Products" [ %s"/$filter(Paid)" ] comma %s"Tree" comma ( %s"ID" / %s"Supplier/Name" / %s"Related/ID" )
        """#

    private static let paths = #"""

        resource = entities [ collectionEnd ] / entity [ entityEnd ] / value
        entities = %s"Products" / %s"Products/S.Special" / %s"Products/$filter(" bool ")" / entity %s"/Related"
               / topCall / %s"Rated(Least=1)" / %s"Rated()" / entities2 %s"/$filter(Paid)"
        entities2 = %s"Products" / %s"Products/Special"
        topCall = %s"Products/S.Top(" [ bws %s"N=" ( integer / %s"@p" ) [ comma %s"By=" pathString ] ] bws ")"
        pathString = "'" *( "a" / "''" / " " / "(" / ")" / "," / "é" / "=" ) "'"
        entity = %s"Products" pathKey / %s"Products" pathKey %s"/S.Special" / topCall pathKey / %s"Products/1" / %s"Star"
               / %s"Products/S.Best()" / %s"Products/S.Special" pathKey / entity2 %s"/Supplier/Main" / %s"Rated(Least=1)" pathKey
               / %s"Products/$filter(" bool ")" pathKey
        entity2 = %s"Products" pathKey / %s"Star"
        pathKey = "(" ( integer / %s"@p" / %s"ID=" integer ) ")"
        collectionEnd = %s"/$count" / %s"/$ref" / %s"/$query" / %s"/$each" [ %s"/S.Discount" ] / %s"/S.Discount"
        entityEnd = %s"/$ref" / %s"/Name" [ %s"/$value" ] / %s"/Address" [ %s"/City" ] / %s"/Tags" [ %s"/" [ "-" ] digit / %s"/$count" ]
               / %s"/Items" [ %s"/$count" / %s"(Line=1,Part='a')/Text" / %s"(Part='x%2Fy',Line=@p)" / %s"/1/a/Text" ]
               / %s"/Photo" / %s"/$value" / %s"/Supplier" [ %s"/$ref" ] / %s"/Addresses/0/City" / %s"/$query"
        value = %s"$metadata" / %s"$batch" / %s"$all" [ %s"/S.Special" ] / %s"$crossjoin(Products,Suppliers)"
               / %s"$crossjoin(Products)/$query"
        """#
}
