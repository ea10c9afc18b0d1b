#!/bin/sh
# The same in one request, with the project's default agent in the project's directory.
# prints: "id":"sesn_
# prints: "data":[
curl -sS "$CAPSTAN_URL/api/sessions" -H "x-api-key: $CAPSTAN_KEY" -H "content-type: application/json" \
  -d '{"message": "list the files"}'
curl -sS "$CAPSTAN_URL/api/approvals?status=pending" -H "x-api-key: $CAPSTAN_KEY"
