/**
 * Words of metered calls, usage, and receipts.
 */
import { CONSUMER_ID, NOW, PROVIDER_ID, RECEIPT_ID, TOOL_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const SIGNATURE = "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"

const receipt = {
  receipt_id: RECEIPT_ID,
  tool_id: TOOL_ID,
  tool_name: "search",
  agent_id: CONSUMER_ID,
  provider_id: PROVIDER_ID,
  timestamp: NOW,
  duration_ms: 86,
  cost_microcents: 500,
  status: "success",
  signature: SIGNATURE,
  created_at: NOW
}

export const callWords: Words = {
  "ProxyCall.": ["Which tool, with what, and for how much at most."],
  "ProxyCall.tool_id": ["The tool. Goes before `tool_name`."],
  "ProxyCall.tool_name": [
    "The tool by its qualified name `handle/tool_name`, or by its bare name. Your account's first successful call of a " +
      "bare name pins it: later calls of that name go to the same tool or, once that is withdrawn, are 410. A name " +
      "without a pin goes to the only listed tool of that name; where there are several, the call is 409.",
    "ada-tools/search"
  ],
  "ProxyCall.provider_id": ["Whose tool the bare name means. No pin is used or made."],
  "ProxyCall.max_cost_microcents": [
    "The most that you pay for this call. Below the list price: 409. A usage-priced call needs it, or a default."
  ],
  "ProxyCall.price_version": ["The version that you were quoted: under another one the call is refused with 409."],
  "X-Max-Cost-Microcents": ["The same as `max_cost_microcents`, which goes before it.", "50000"],
  input: ["The tool's arguments."],
  arguments: ["The same as `input`, under the name that MCP uses."],
  dry_run: ["Answer with a quote and call nobody.", true],
  metadata: ["Anything of yours to keep with the call."],
  "CallResult.": ["The tool's result, also where it says `isError`, and what the call cost."],
  result: ["The provider's result, untouched.", { content: [{ type: "text", text: "3 papers found" }] }],
  meta: ["What the call was, and what it cost."],
  "CallMeta.outcome": [
    "`success`, or `error` where the tool answered with an error of its own: a result with `isError`.",
    "success"
  ],
  "CallMeta.": ["What the call was, and what it cost."],
  tool: ["The tool's name for people.", "Paper search"],
  cost: ["What it cost, for people.", "$0.0005"],
  cost_cents: ["In whole cents, rounded toward zero: for people.", 0],
  cost_microcents: ["What it cost, exact.", 500],
  latency_ms: ["How long the provider took.", 86],
  duration_ms: ["How long the call took.", 86],
  remaining_balance_cents: ["What is left, in whole cents.", 499],
  remaining_balance_microcents: ["What is left, exact.", 4_999_500],
  free_tier_remaining: ["Free calls left this month; null where there is no free tier.", 0],
  invocation_id: ["The same as `receipt_id`.", RECEIPT_ID],
  attempts: ["How often the provider was asked.", 1],
  "Quote.": ["What the call would cost now."],
  quote: ["What the call would cost now."],
  price_version: ["The terms by number. Name it in the call, and no other terms are charged.", 3],
  usage_priced: [
    "Whether the provider says what each call costs, up to `max_cost_microcents`: then a call needs a cap.",
    false
  ],
  "Quote.max_cost_microcents": ["The most that one call costs.", 500],
  "Quote.upcoming": ["Terms that are announced and not yet in effect; null where there are none.", null],
  hold_microcents: ["What would be reserved while it runs.", 500],
  "Quote.balance_microcents": ["Your balance now.", 5_000_000],
  balance_after_microcents: ["What would be left.", 4_999_500],
  sufficient_funds: ["Whether the call would go through.", true],

  "UsagePage.": ["A page of calls, and figures of the whole period."],
  "FreeTiers.": ["What is left of the free calls of each tool, this month."],
  "FreeTiers.free_tiers": [
    "The tools that were called free of charge this month, the most used first; at most a hundred."
  ],
  "FreeTiers.resets_at": ["When all of them are there again.", "2026-12-01T00:00:00.000Z"],
  "FreeTier.": ["The free calls of one tool."],
  "FreeTier.used": ["Free calls used this month.", 4],
  "FreeTier.left": ["Free calls left this month.", 6],
  "UsageSummary.": ["Usage by tool and day."],
  owner: ["Whose usage this is.", { id: CONSUMER_ID, type: "consumer", name: "Research agent", balance_cents: 499 }],
  type: ["What kind it is."],
  balance_cents: ["The balance in whole cents, rounded toward zero.", 499],
  period: ["The time that the figures cover, back from now; it begins at a full hour."],
  summary: ["Figures of the whole period."],
  recent_calls: ["The calls of this page, newest first."],
  records: ["The same list as `recent_calls`, under the name that existing clients know."],
  "UsageCall.": ["One metered call."],
  "UsageCall.id": ["The receipt's id.", RECEIPT_ID],
  success: ["Whether the status is `success`.", true],
  status: ["How the call ended."],
  error_rate: ["The share of calls that failed, from 0 to 1.", 0.0059],
  total_cost: ["What they cost, for people.", "$9.21"],
  total_cost_cents: ["In whole cents, rounded toward zero.", 921],
  total_cost_microcents: ["What they cost, exact.", 9_210_000],
  total_spend: ["What was spent, for people.", "$9.21"],
  total_spend_cents: ["In whole cents, rounded toward zero.", 921],
  total_spend_microcents: ["What was spent, exact.", 9_210_000],
  data_volume: ["How much went to and fro."],
  request_bytes: ["Bytes sent to providers.", 2_410_332],
  response_bytes: ["Bytes that came back.", 19_220_871],
  tokens_input: ["Input tokens, where they were reported.", 0],
  tokens_output: ["Output tokens, where they were reported.", 0],
  top_tools: ["The ten tools that cost most."],
  calls: ["Calls.", 1_204],
  spend: ["What they cost, for people.", "$0.60"],
  spend_cents: ["In whole cents, rounded toward zero.", 60],
  spend_microcents: ["What they cost, exact.", 602_000],
  calls_by_tool: ["Calls for each tool name.", { search: 1_204 }],
  calls_by_day: ["Every day of the period, those without calls too."],
  date: ["The day, in UTC.", "2026-11-20"],
  errors: ["Calls that failed.", 7],

  "Receipt.": ["Exactly the eleven fields of the public receipt; seven of them are signed."],
  "ReceiptToVerify.": ["A receipt: the seven signed fields and the signature; more fields may stand beside them."],
  "ReceiptToVerify.receipt_id": ["The receipt's id: `rcpt_` and 16 or more lowercase hex digits.", RECEIPT_ID],
  "ReceiptToVerify.timestamp": ["When the call was made, byte for byte as it was signed.", NOW],
  "ReceiptToVerify.status": ["How the call ended.", "success"],
  "WrappedReceipt.": ["A receipt in `receipt`, as `GET /api/v1/market/receipts/{id}` shows it."],
  "Receipt.timestamp": ["When the call was made; signed, and returned byte for byte.", NOW],
  signature: ["HMAC-SHA256 over the seven signed fields, in lowercase hex.", SIGNATURE],
  "receipts.find.id": ["The receipt's id.", RECEIPT_ID],
  "receipts.verify.body": ["A bare receipt, or `{receipt}`.", receipt],
  "receipts.list.status": ["Only calls that ended like this."],
  receipt: ["The receipt.", receipt],
  receipts: ["The receipts of this page, newest first.", [receipt]],
  "ReceiptPage.": ["A page of receipts."],
  "OneReceipt.": ["The receipt, and whether its signature holds."],
  "Verification.": ["Whether the signature holds and, if not, what is wrong first."],
  "Verification.receipt": ["What was sent, as it was sent.", receipt],
  verification: ["What the check found."],
  valid: ["Whether the receipt is ours and unchanged.", true],
  reason: ["The first fault that was found, or `ok`."],
  missing: ["Which signed fields are absent or of the wrong type."],
  checked: ["What was checked."],
  canonical: [
    "The bytes that the signature is made over; empty where they cannot be put together.",
    `${RECEIPT_ID}|${TOOL_ID}|${CONSUMER_ID}|${PROVIDER_ID}|${NOW}|500|success`
  ],
  algorithm: ["How it is signed."],
  verified_at: ["When it was checked.", NOW],
  from: ["Only from this instant on, in ISO 8601.", "2026-11-01T00:00:00.000Z"],
  to: ["Only before this instant, in ISO 8601.", NOW]
}
