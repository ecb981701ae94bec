/**
 * Words that most answers share: ids, instants, lists, and problems.
 */
import type { Words } from "./Vocabulary.ts"

export const PROVIDER_ID = "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9e"
export const CONSUMER_ID = "0193f9c4-1b20-7c55-8e01-6d2f90ab34ce"
export const TOOL_ID = "0193f9c3-02af-7e19-b6c4-91d7e0f45a12"
export const RECEIPT_ID = "rcpt_5f0c1d9b7a3e4c2880d6b1f2a4e39c75"
export const NOW = "2026-11-20T09:30:00.000Z"

export const sharedWords: Words = {
  id: ["The id of this item."],
  provider_id: ["The provider that offers the tool.", PROVIDER_ID],
  consumer_id: ["The consumer whose agent calls.", CONSUMER_ID],
  agent_id: ["The same as `consumer_id`, under the name that existing clients know.", CONSUMER_ID],
  tool_id: ["The tool.", TOOL_ID],
  tool_name: ["The tool's name, as MCP knows it.", "search"],
  qualified_name: [
    "The tool's qualified name, `handle/tool_name`: it names this tool to every account, for good.",
    "ada-tools/search"
  ],
  handle: ["The provider's handle: unique, and the first part of its tools' qualified names.", "ada-tools"],
  provider_handle: ["The provider's handle.", "ada-tools"],
  receipt_id: ["The receipt of the call.", RECEIPT_ID],
  name: ["A name for people.", "Ada Tools"],
  description: ["What it is, for people.", "Full-text search over public papers"],
  message: ["What happened, in a sentence for people."],
  next_steps: ["What to do next, one step each.", ["Find a tool in GET /api/market/catalog"]],
  timestamp: ["When this was said: UTC, milliseconds.", NOW],
  created_at: ["When it was made.", NOW],
  version: ["The version of what `version_of` names."],
  version_of: ["What `version` is the version of.", "the platform API under /api/v1, and the trust layer"],

  limit: ["The most items that this page could hold.", 50],
  offset: ["How many items were left out before this page.", 0],
  total: ["Items in the whole filtered list, not only on this page.", 1],
  next_cursor: ["Send it as `cursor` for the next page; null on the last one.", null],
  cursor: ["`next_cursor` of the page before.", "WyJjYXRhbG9nOm5hbWUiLCJzZWFyY2giLCIwMTkzIl0"],
  "Idempotency-Key": ["Makes the request safe to send again.", "0193fa01-5c7d-7b31-a2f4-0c9d8e7f6a5b"],

  "Problem.type": [
    "The address of the code's entry in the docs (RFC 9457). Branch on `code`, which says the same in one word."
  ],
  "Problem.title": ["The kind of problem, for people; the same text for every problem of a status."],
  "Problem.status": ["The HTTP status, repeated."],
  "Problem.detail": ["What is wrong with this very request."],
  "Problem.instance": ["The path that was asked."],
  "Problem.error": ["Always true: tells a problem from an answer."],
  "Problem.code": ["What to branch on in code."],
  "Problem.message": ["The same sentence as `detail`."],
  "Problem.request_id": ["Also in `X-Request-Id`; name it when you ask for help."],
  "Problem.details": ["Every field at fault, where there is more to say than one sentence."],
  "Problem429.limit": ["Which limit it is, where it is not that of requests a minute.", "calls_in_flight"],
  calls_in_flight_max: ["How many calls an account may have in flight, those it no longer waits for included.", 64],
  retry_after_seconds: ["How long to wait before asking again; also in `Retry-After`.", 3],
  minimum_cents: ["The least that is paid out, in whole cents.", 1_000],
  payout_balance_cents: ["What there is to pay out, in whole cents.", 420],
  load_balance_url: ["Where to load the balance.", "https://billing.example.org/api/market/balance/load"],
  "Fault.": ["One field at fault."],
  "Fault.path": ["Where it is: names and indexes from the body's root.", ["tools", 0, "price_microcents"]],
  "Fault.message": ["What is wrong there, and what is expected.", "`amount_cents` is required."]
}
