/**
 * Keys with bounds, runs, and the limits that apply to them.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { KEY_LABEL_CHARS_MAX } from "../../../domain/accounts/Keys.ts"
import { ALLOWED_ENTRIES_MAX, RUN_SECONDS_MAX, RUNS_SHOWN_MAX, Scope } from "../../../domain/accounts/Levels.ts"
import { BudgetId, BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { LevelId } from "../../../domain/shared/Ids.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { anyKey, callBy, manageBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Instant, IntBetween, Line, pageQuery } from "../contract/InputSchemas.ts"
import { BUDGET_ID, RUN_ID, RUN_KEY } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { Key } from "./KeyFields.ts"

const allowed = (what: string, form: string) => ({
  schema: Schema.Array(Line(300)).check(Schema.isMaxLength(ALLOWED_ENTRIES_MAX)),
  description: `${what} that may be called, by ${form}.`
})

const limit = Schema.Struct({
  period: Field.of(BudgetPeriod, "Period after which the limit resets, in UTC; `total`: never.", "day"),
  limit_microcents: Field.of(MicrocentsFromInt, "Most that is spent in each period, in microcents.", 1_000_000)
})

const limits = Schema.Array(limit).check(
  Schema.makeFilter((given: ReadonlyArray<{ readonly period: string }>) =>
    new Set(given.map(({ period }) => period)).size === given.length ? undefined : "Send one limit for each period."
  )
)

const bounds = {
  scopes: {
    schema: Schema.Array(Scope),
    description:
      "What the key may be used for: `call` tools, `read` the account, `manage` the keys and runs below it, and `payouts`."
  },
  rate_limit_rpm: { schema: IntBetween(1, 1_000_000), description: "Requests per minute." },
  max_price_microcents: { schema: MicrocentsFromInt, description: "Most that one call may cost, in microcents." },
  allowed_tools: allowed("Tools", "ID or qualified name"),
  allowed_providers: allowed("Providers", "ID or handle"),
  allowed_categories: allowed("Categories", "name")
}

const { allowed_categories, allowed_providers, allowed_tools, max_price_microcents, rate_limit_rpm, scopes } = bounds

const given = <S extends Schema.Top>({ description, schema }: { readonly schema: S; readonly description: string }) =>
  Field.optional(schema, description)

/** What a new key may be bounded by. */
export const newBounds = {
  scopes: given(scopes),
  rate_limit_rpm: given(rate_limit_rpm),
  max_price_microcents: given(max_price_microcents),
  allowed_tools: given(allowed_tools),
  allowed_providers: given(allowed_providers),
  allowed_categories: given(allowed_categories),
  limits: Field.optional(limits, "What may be spent in each period.")
}

const changed = <S extends Schema.Top>({ description, schema }: { readonly schema: S; readonly description: string }) =>
  Field.optional(Schema.NullOr(schema), `${description} \`null\` lifts the bound.`)

const shown = <S extends Schema.Top>(schema: S, { description }: { readonly description: string }) =>
  Field.nullable(schema, `${description} \`null\`: not bounded.`)

/** Names as they were stored. */
const names = Schema.Array(Schema.String)

const runId = Field.of(LevelId, "ID of the run.", RUN_ID)

const ChangeKey = Field.object("ChangeKey", "What to change; fields that are not sent stay.", {
  label: Field.optional(Line(KEY_LABEL_CHARS_MAX), "Label of the key."),
  scopes: given(scopes),
  rate_limit_rpm: changed(rate_limit_rpm),
  max_price_microcents: changed(max_price_microcents),
  allowed_tools: changed(allowed_tools),
  allowed_providers: changed(allowed_providers),
  allowed_categories: changed(allowed_categories),
  limits: Field.optional(limits, "What may be spent in each period: replaces all limits of the key."),
  expires_at: Field.optional(Schema.NullOr(Instant), "Time of expiry in ISO 8601. `null`: never."),
  disabled: Field.optional(Schema.Boolean, "`true`: neither the key nor any below it works, until it is enabled.")
}).annotate({
  examples: [{ limits: [{ period: "day", limit_microcents: Microcents.make(1_000_000n) }], disabled: false }]
})

const LimitStatus = Schema.Struct({
  budget_id: Field.of(BudgetId, "ID of the limit.", BUDGET_ID),
  period: limit.fields.period,
  limit_microcents: limit.fields.limit_microcents,
  spent_microcents: Field.microcents("Spent in the current period", 120_000),
  held_microcents: Field.microcents("Held for calls in flight", 500),
  remaining_microcents: Field.microcents("Left in the current period", 879_500),
  resets_at: Field.nullableTimestamp("Time when the period ends. `null`: never.")
})

const level = {
  level_id: Field.of(LevelId, "ID of the level.", RUN_ID),
  kind: Field.of(Schema.Literals(["team", "key", "run"]), "Kind of the level.", "key"),
  label: Field.string("Label of the level.", "nightly"),
  scopes: shown(scopes.schema, scopes),
  rate_limit_rpm: shown(rate_limit_rpm.schema, rate_limit_rpm),
  max_price_microcents: shown(max_price_microcents.schema, max_price_microcents),
  allowed_tools: shown(names, allowed_tools),
  allowed_providers: shown(names, allowed_providers),
  allowed_categories: shown(names, allowed_categories),
  expires_at: shared.expiresAt,
  disabled: Field.boolean("Whether the level is disabled.", false),
  limits: Field.list(LimitStatus, "What may be spent in each period.")
}

const KeyBounds = Field.object("KeyBounds", "A key and its bounds.", {
  key: Field.of(Key, "The key."),
  bounds: Field.nullable(Schema.Struct(level), "Bounds of the key. `null`: it may do everything that the account may.")
})

const Check = Schema.Struct({
  level: Field.of(Schema.Literals(["account", "team", "key", "run"]), "Where the limit is set.", "key"),
  level_id: Field.nullable(LevelId, "ID of the level. `null`: the account.", RUN_ID),
  label: Field.string("Label of the level.", "nightly"),
  limit: Field.string(
    "What is limited: `balance`, `frozen`, `disabled`, `expiry`, `scopes`, `rate_limit_rpm`, `max_price`, `allowed_tools`, " +
      "`allowed_providers`, `allowed_categories`, or the spending of an `hour`, `day`, `week`, `month` or in `total`.",
    "day"
  ),
  verdict: Field.of(
    Schema.Literals(["unset", "open", "exhausted"]),
    "`unset`: nothing is limited here. `exhausted`: it stops every call that costs something, or every call.",
    "open"
  ),
  detail: Field.nullableString("The limit in words. `null`: it is not set.", "$87.95 of $100.00 is left"),
  tool_id: Field.nullableString("ID of the only tool that it covers. `null`: it covers every tool."),
  provider_id: Field.nullableString("ID of the only provider that it covers. `null`: it covers every provider."),
  limit_microcents: Field.nullable(MicrocentsFromInt, "The limit in microcents. `null`: it is no amount.", 1_000_000),
  spent_microcents: Field.nullable(MicrocentsFromInt, "Spent in the current period, in microcents.", 120_000),
  held_microcents: Field.nullable(MicrocentsFromInt, "Held for calls in flight, in microcents.", 500),
  remaining_microcents: Field.nullable(MicrocentsFromInt, "Left in microcents.", 879_500),
  resets_at: Field.nullableTimestamp("Time when the limit resets or takes effect. `null`: never.")
})

const KeyLimits = Field.object("KeyLimits", "Every limit that applies to a key, from the account down.", {
  key_id: shared.keyId,
  verdict: Field.of(
    Schema.Literals(["open", "exhausted"]),
    "`exhausted`: some limit stops the key now: see the checks.",
    "open"
  ),
  checks: Field.list(Check, "Limits, those that are not set included."),
  timestamp: shared.answeredAt
})

const StartRun = Field.object("StartRun", "What the run may spend, and until when.", {
  limit_microcents: Field.of(MicrocentsFromInt, "Most that the run and all runs below it spend, in microcents."),
  expires_in_seconds: Field.optional(
    IntBetween(1, RUN_SECONDS_MAX),
    "Seconds until the run ends. Default: 86400 (one day)."
  ),
  allowed_tools: given(allowed_tools),
  label: Field.optional(Line(KEY_LABEL_CHARS_MAX), "Label of the run."),
  parent_run_id: Field.optional(LevelId, "ID of the run that starts this one. Default: the caller's key or run.")
}).annotate({ examples: [{ limit_microcents: Microcents.make(500_000n), label: "nightly" }] })

const run = {
  run_id: runId,
  parent_id: Field.nullable(LevelId, "ID of the level above the run. `null`: the account."),
  label: Field.string("Label of the run.", "nightly"),
  status: Field.of(Schema.Literals(["running", "ended", "expired"]), "Status of the run.", "running"),
  created_at: shared.createdAt,
  expires_at: Field.timestamp("Time when the run ends."),
  ended_at: Field.nullableTimestamp("Time when it was ended. `null`: it was not.")
}

const spending = {
  limit_microcents: limit.fields.limit_microcents,
  spent_microcents: Field.microcents("Spent, with all runs below", 120_000),
  held_microcents: Field.microcents("Held for calls in flight", 500),
  remaining_microcents: Field.microcents("Left", 379_500)
}

const StartedRun = Field.object("StartedRun", "The run. `run_key` is shown only once.", {
  ...run,
  limit_microcents: limit.fields.limit_microcents,
  run_key: Field.string("Key that can spend the limit, and do nothing else.", RUN_KEY),
  message: shared.message("Store run_key now: it is not shown again.")
})

const RunReceipt = Schema.Struct({
  receipt_id: shared.receiptId,
  tool_name: shared.toolName,
  status: shared.receiptStatus,
  cost_microcents: shared.costMicrocents,
  timestamp: Field.timestamp("Time of the call.")
})

const RunNode = Schema.Struct({
  ...run,
  ...spending,
  calls: Field.int("Number of calls of the run itself.", 1),
  receipts: Field.list(RunReceipt, "Receipts of its calls, the newest 100."),
  allowed_tools: shown(names, allowed_tools)
})

const RunTree = Field.object("Run", "A run with its calls and the runs below it.", {
  ...RunNode.fields,
  runs: Field.list(
    RunNode,
    `The first ${RUNS_SHOWN_MAX} runs below it at any depth, oldest first: \`parent_id\` says where each belongs.`
  )
})

const EndedRun = Field.object("EndedRun", "The run has ended, and all runs below it.", run)

const RunPage = shared.pageOf("Runs", "Your runs, newest first.", "runs", Field.list(Schema.Struct(run), "Runs."))

export class LevelsApi extends HttpApiGroup.make("levels")
  .add(
    Endpoint.get("findKey", "/api/v1/market/keys/:key_id", {
      access: anyKey("consumer"),
      summary: "Retrieve an API key",
      description: "Returns a key with its bounds, and what it has spent of its limits.",
      params: { key_id: shared.keyId },
      success: KeyBounds
    }),
    Endpoint.patch("changeKey", "/api/v1/market/keys/:key_id", {
      access: manageBy("consumer"),
      summary: "Change an API key",
      description:
        "Changes label, bounds, limits and expiry. A key without bounds that is given any can no longer manage the account. The " +
        "change reaches every node within a second; what was spent in a period stays counted.",
      params: { key_id: shared.keyId },
      payload: ChangeKey,
      success: KeyBounds,
      problems: ["DUPLICATE"]
    }),
    Endpoint.get("keyLimits", "/api/v1/market/keys/:key_id/limits", {
      access: anyKey("consumer"),
      summary: "List the limits of an API key",
      description:
        "Returns every limit that applies to the key, from the account down, with what is left and when it resets: what would stop " +
        "the key, and when.",
      params: { key_id: shared.keyId },
      success: KeyLimits
    }),
    Endpoint.post("startRun", "/api/v1/market/runs", {
      access: { ...callBy("consumer"), idempotent: true },
      summary: "Start a run",
      description:
        "Creates a key that can spend the given amount on calls, and do nothing else. Calls of your key that send the run's ID in " +
        "`X-Run-Id` count toward it too. Runs nest: a run starts runs below it, and all of them share its limit.",
      payload: StartRun,
      success: StartedRun.pipe(HttpApiSchema.status(201)),
      problems: [404]
    }),
    Endpoint.get("listRuns", "/api/v1/market/runs", {
      access: anyKey("consumer"),
      summary: "List your runs",
      description: "Newest first. With a key that has bounds: the runs below it.",
      query: pageQuery,
      success: RunPage
    }),
    Endpoint.get("findRun", "/api/v1/market/runs/:run_id", {
      access: anyKey("consumer"),
      summary: "Retrieve a run",
      description: "Returns what the run has spent, its receipts, and the runs below it.",
      params: { run_id: runId },
      success: RunTree
    }),
    Endpoint.delete("endRun", "/api/v1/market/runs/:run_id", {
      access: callBy("consumer"),
      summary: "End a run",
      description:
        "The keys of the run and of all runs below it are rejected within a second. Calls in flight are settled.",
      params: { run_id: runId },
      success: EndedRun
    })
  )
  .annotateMerge(Endpoint.about("Runs and limits", "Bounds of API keys, runs of agents, and the limits that apply.")) {}
