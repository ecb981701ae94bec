/**
 * Words of calls that were made elsewhere, grants, and calls that failed.
 */
import type { Words } from "./Vocabulary.ts"

export const meteringWords: Words = {
  "MeteredCall.": ["A call that did not pass through the proxy."],
  "MeteredCall.tool_id": ["The tool. Goes before `tool_name`."],
  "MeteredCall.tool_name": [
    "The tool by its qualified name `handle/tool_name`, or by its bare name. A consumer's bare name means what it means " +
      "to the proxy; a provider's means its own tool.",
    "ada-tools/search"
  ],
  "MeteredCall.provider_id": ["Whose tool of that `tool_name` is meant. A provider can name only itself."],
  "MeteredCall.agent_id": ["Who is billed, where a provider reports; absent: its own test call, at no cost."],
  "MeteredCall.consumer_id": ["The same as `agent_id`."],
  "MeteredCall.status": ["How the call ended. Only a success costs money."],
  "MeteredCall.cost_microcents": ["What the call cost, where the tool's price is only the most it may cost."],
  "MeteredCall.timestamp": ["When it was made, in ISO 8601; now, if absent."],
  "MeteredCall.duration_ms": ["How long it took."],
  input_tokens: ["Tokens that went in."],
  output_tokens: ["Tokens that came out."],
  tokens_used: ["Tokens in all."],
  "MeteredEvent.id": ["The event's id; with `source` it is the idempotency key."],
  "MeteredEvent.type": ["What kind of event it is; any."],
  specversion: ["The version of CloudEvents."],
  source: ["Where the event comes from."],
  data: ["The call."],
  "Metered.": ["The call is recorded and billed."],
  metered: ["Always true."],
  recorded: ["Always true."],
  "Metered.receipt": ["The whole public receipt, and where to verify it."],
  verify_url: ["Where anybody can verify the receipt.", "https://billing.example.org/api/v1/verify"],
  "metering.describeMeter.200": [
    "How to use the endpoint.",
    {
      endpoint: "/api/v1/market/meter",
      method: "POST",
      description: "Report a call that was made elsewhere",
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { tool_name: { type: "string" } }
      }
    }
  ],

  "GiveGrant.": ["Whom you allow to bill you, for what, and up to how much."],
  "GiveGrant.tool_ids": ["For these tools only; all of the provider's, if absent."],
  "GiveGrant.expires_at": ["When the grant shall end by itself, in ISO 8601; never, if absent."],
  "GiveGrant.period": ["How long until the cap begins anew; never, if absent."],
  "GiveGrant.cap_microcents": ["The most that the provider may bill in a period."],
  "Grant.": ["Your leave for a provider to bill you for calls outside the proxy."],
  "Grant.cap_microcents": ["The most that the provider may bill in a period.", 1_000_000],
  "Grant.spent_microcents": ["What it has billed in this period.", 12_500],
  "Grant.period": ["How long until the cap begins anew."],
  "Grant.status": ["Whether the provider may bill now."],
  "Grant.revoked_at": ["When you took it back; null while you have not.", null],
  "RevokedGrant.grant": [
    "The grant as it is listed now.",
    {
      grant_id: "0193fa04-6071-7283-94a5-b6c7d8e9f01a",
      provider_id: "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9e",
      tool_ids: [],
      cap_microcents: 1_000_000,
      spent_microcents: 12_500,
      period: "month",
      status: "revoked",
      created_at: "2026-11-20T09:30:00.000Z",
      expires_at: null,
      revoked_at: "2026-11-20T10:30:00.000Z"
    }
  ],
  "OneGrant.": ["The grant holds from now on."],
  "Grants.": ["The grants that you gave, the ended ones too."],
  "RevokedGrant.": ["The provider cannot bill under it any more."],
  grant: ["The grant."],
  grants: ["The grants."],
  grant_id: ["The grant.", "0193fa04-6071-7283-94a5-b6c7d8e9f01a"],
  tool_ids: ["For these tools only; empty: for all of the provider's.", []],

  "Problem.tool": ["The tool that was called."],
  "Problem.provider": ["Who offers it."],
  "Problem.cost_cents": ["What the call would have cost or did cost, in whole cents."],
  "Problem.cost_microcents": ["The same, exact."],
  "Problem.result": ["What the provider answered, where it answered."],
  outcome: ["How the call ended."],
  problem: ["What went wrong on the way to the provider."],
  provider_status: ["The HTTP status that the provider answered with."],
  provider_error: ["The JSON-RPC error that the provider answered with."],
  candidates: ["The tools of that name, where several providers offer one."],
  "Problem.registered": ["Always 0: nothing was registered."],
  "Problem.errors": ["How many tools were refused."],
  "Problem.tools": ["Always empty: nothing was registered."]
}
