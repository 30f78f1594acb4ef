# shellcheck shell=bash
# The demonstration of Tools/quickstart --gateway. Sourced; $PROGRAMS is the folder of the programs.
#
# Two devices reach a service without delta links and repeatable requests through tidelog-gateway. A lost answer is not
# executed twice, and the second pull costs a few hundred bytes. Each check has to hold; the first failure ends the run
# with status 1.

# shellcheck source=Tools/lib/demonstration.bash
. Tools/lib/demonstration.bash

SETS='Customers Orders Owners Cars Cities Mayors Fathers Children Persons IDCards Products Visits Photos Prices'

# Writes the configuration. $1 and $2 are the ports for clients and for the operator, $3 is the root of the service.
configure() {
    local set
    cat <<INI
[gateway]
listen = 127.0.0.1:$1
admin = 127.0.0.1:$2
public_root = http://127.0.0.1:$1/odata/
storage = sqlite:$DEMONSTRATION/gateway.db

[endpoint]
name = shop
root = $3
origin_timeout = 2
origin_margin = 1

[defining_query]
name = Suppliers
query = Suppliers?\$expand=Products
is_shared_data = Y
refresh_interval = 0
INI
    for set in $SETS; do
        printf '\n[defining_query]\nname = %s\nquery = %s\nis_shared_data = Y\nrefresh_interval = 0\n' "$set" "$set"
    done
}

# start_gateway ROOT: starts the gateway on two free ports.
start_gateway() {
    local attempt tries
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        PORT=$((20000 + RANDOM % 20000))
        ADMIN=$((PORT + 1))
        configure "$PORT" "$ADMIN" "$1" >"$DEMONSTRATION/gateway.ini"
        : >"$DEMONSTRATION/gateway"
        "$PROGRAMS/tidelog-gateway" serve --config "$DEMONSTRATION/gateway.ini" >>"$DEMONSTRATION/gateway" \
            2>>"$DEMONSTRATION/gateway.log" &
        GATEWAY=$!
        tries=0
        while [ "$tries" -lt 200 ] && kill -0 "$GATEWAY" 2>/dev/null; do
            if grep -q '^ready' "$DEMONSTRATION/gateway"; then return; fi
            tries=$((tries + 1))
            sleep 0.05
        done
        stop_gateway
        say "Attempt $attempt: port $PORT is in use"
    done
    fail "tidelog-gateway does not start: $(tail -n 3 "$DEMONSTRATION/gateway.log")"
}

# page PORT PATH: prints the answer to a GET request, without other programs.
page() {
    exec 3<>"/dev/tcp/127.0.0.1/$1"
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
    cat <&3
    exec 3<&- 3>&-
}

# The bytes of all answers to queries so far.
read_bytes() {
    page "$ADMIN" /metrics | tr -d '\r' | sed -n 's/^gateway_response_bytes_total{kind="read"} //p'
}

# counted NAME: the sum of the counters that begin with this text.
counted() {
    page "$ADMIN" /metrics | tr -d '\r' | awk -v name="$1" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }'
}

# The notes of the orders at the service, and in a store.
notes_at_service() { page "$SERVICE_PORT" /v4/Orders | grep -o '"Note":"[^"]*"' | sort; }
notes() { "$PROGRAMS/tidelog" query --store "$1" Orders --json | grep -o '"Note":"[^"]*"' | sort; }

demonstrate_gateway() {
    local first second readings
    headline "A service without delta links and repeatable requests; the answer to the second upload will be lost"
    printf '%s\n' '{"effect":"dropAnswer","url":"$batch","skip":1}' >"$DEMONSTRATION/faults.json"
    start_sandbox --faults "$DEMONSTRATION/faults.json"
    cat "$DEMONSTRATION/sandbox"
    SERVICE_PORT=$(sed -n 's/^V4 .*:\([0-9]*\)\/.*/\1/p' "$DEMONSTRATION/sandbox")

    headline "The gateway: clients only change the root of the service"
    start_gateway "$(sed -n 's/^V4 //p' "$DEMONSTRATION/sandbox")"
    sed -n '1,16p' "$DEMONSTRATION/gateway.ini"
    printf '[…]\n'
    cat "$DEMONSTRATION/gateway"

    headline "Device A downloads, creates 500 orders, and uploads them"
    cd "$DEMONSTRATION"
    tidelog init "http://127.0.0.1:$PORT/odata/shop/" --store a
    tidelog pull --store a
    awk 'BEGIN {
        for (n = 1; n <= 500; n++)
            printf "{\"op\":\"create\",\"set\":\"Orders\",\"value\":{\"Note\":\"order number %d\",\"CustomerID\":%d}}\n", n, n % 3 + 1
    }' >many.jsonl
    printf '\n$ tidelog apply many.jsonl --store a\n'
    "$PROGRAMS/tidelog" apply many.jsonl --store a >/dev/null || fail "'tidelog apply' failed."
    tidelog push --store a

    headline "A lost answer: the service executes the next upload, and its answer does not arrive"
    tidelog create Orders '{"Note":"paid once","Amount":99}' --store a
    show push --store a
    "$PROGRAMS/tidelog" push --store a || true
    printf '\n$ tidelog-gateway ledger --doubt\n'
    "$PROGRAMS/tidelog-gateway" ledger --config gateway.ini --doubt 2>/dev/null
    same "the request is in the ledger, in doubt" 1 \
        "$("$PROGRAMS/tidelog-gateway" ledger --config gateway.ini --doubt 2>/dev/null | wc -l | tr -d ' ')"
    same "the service has executed it" 1 "$(notes_at_service | grep -c 'paid once')"
    say "Device A repeats the request. The gateway does not send it again, and the device reads whether it took effect"
    tidelog push --store a
    tidelog status --store a
    [ "$answer" = "No pending operations." ] || fail "the create was not confirmed."
    same "the order exists once at the service" 1 "$(notes_at_service | grep -c 'paid once')"

    headline "Device B downloads, and downloads again after one change of device A"
    tidelog init "http://127.0.0.1:$PORT/odata/shop/" --store b
    first=$(read_bytes)
    tidelog pull --store b
    first=$(($(read_bytes) - first))
    same "both devices have the orders of the service" "$(notes_at_service)" "$(notes b)"
    tidelog update 'Orders(1)' '{"Note":"changed by device A"}' --store a
    tidelog push --store a
    second=$(read_bytes)
    tidelog pull --store b
    second=$(($(read_bytes) - second))
    same "device B has the change" "$(notes_at_service)" "$(notes b)"
    tidelog pull --store a
    same "device A has it too" "$(notes_at_service)" "$(notes a)"
    say "First download of device B: $first bytes for 15 queries. Second download: $second bytes"
    [ "$second" -lt 9000 ] && [ $((second * 10)) -lt "$first" ] || fail "the second download is not small."
    PROOFS=$((PROOFS + 1))

    headline "For the operator"
    printf '$ tidelog-gateway feeds\n'
    "$PROGRAMS/tidelog-gateway" feeds --config gateway.ini 2>/dev/null
    page "$ADMIN" /metrics | grep -E '^gateway_(feed_reads|ledger|permission)' | tr -d '\r' || true
    readings=$(counted 'gateway_feed_refreshes_total')
    [ "$readings" -gt 0 ] || fail "no refresh was counted."
    stop_gateway
    stop_sandbox
    cd "$root"
}

started=$SECONDS
demonstrate_gateway
headline "Results ($PROOFS checks, $((SECONDS - started)) s)"
cat <<'TEXT'
- An upload whose answer was lost was executed once, although the service does not support repeatable requests.
- Both devices have the data of the service.
- After the first download only changes are sent, although the service has no delta links.
TEXT
