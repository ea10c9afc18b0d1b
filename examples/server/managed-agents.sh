#!/bin/sh
# Runs an agent on a Capstan server with curl.
# CAPSTAN_URL is the server's URL, CAPSTAN_KEY a key from `capstan keys create --role admin`.
# prints: "type":"agent.message"
# prints: "stop_reason":{"type":"end_turn"}
set -eu

ask() { # a method, a path, and a body
  curl -sS --fail-with-body -X "$1" "$CAPSTAN_URL$2" -H "x-api-key: $CAPSTAN_KEY" -H "content-type: application/json" -d "${3:-}"
}
id() { # the first id in an answer
  grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4
}

agent=$(ask POST /v1/agents '{"name": "Helper", "model": "claude-opus-4-8"}' | id)
environment=$(ask POST /v1/environments '{"name": "empty"}' | id)
session=$(ask POST /v1/sessions "{\"agent\": \"$agent\", \"environment_id\": \"$environment\"}" | id)

ask POST "/v1/sessions/$session/events" '{"events": [{"type": "user.message", "content": [{"type": "text", "text": "hello"}]}]}'
echo

until ask GET "/v1/sessions/$session" | grep -q '"status":"idle"'; do sleep 0.2; done
ask GET "/v1/sessions/$session/events?types=agent.message&types=session.status_idle"
echo

ask POST "/v1/sessions/$session/archive"
