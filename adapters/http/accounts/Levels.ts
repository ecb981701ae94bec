/**
 * Keys with bounds, runs and their limits over HTTP.
 */
import { DateTime, Effect, Option } from "effect"
import type { KeyOwner, Principal } from "../../../domain/accounts/Authentication.ts"
import type { ApiKey } from "../../../domain/accounts/Keys.ts"
import {
  type Bounds,
  type Level,
  type LevelStanding,
  Levels,
  RUN_SECONDS_DEFAULT,
  scopesOf
} from "../../../domain/accounts/Levels.ts"
import { type BudgetPeriod, type BudgetStatus, resetsAt, type SpendingLimit } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { type LevelId, KeyId } from "../../../domain/shared/Ids.ts"
import { formatAmount, Microcents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { duplicate, forbidden, invalid, type ProblemsOf } from "../pipeline/Problems.ts"
import { type Route, routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { keyView } from "./KeyFields.ts"
import { LevelsApi } from "./LevelsApi.ts"

export const levelProblems = {
  BeyondOwnLevel: forbidden(),
  LastKey: duplicate(),
  LevelsTooDeep: invalid(),
  ScopesExceeded: forbidden(),
  TooManyKeys: invalid(),
  TooManyRuns: invalid()
} satisfies ProblemsOf<Levels>

const { endpoints } = LevelsApi
const { route } = routesWith(levelProblems)

type Consumer = Extract<Principal, { readonly role: "consumer" }>

/** Receipts of each run that are shown with it. */
const RECEIPTS_SHOWN_MAX = 100

const PERIODS = ["hour", "day", "week", "month", "total"] as const satisfies ReadonlyArray<BudgetPeriod>

export const levelsRoutes = Effect.gen(function* () {
  const levels = yield* Levels
  const ledger = yield* Ledger
  const freezes = yield* FreezeStore
  const receipts = yield* ReceiptStore

  const boundsView = Effect.fnUntraced(function* (caller: Consumer, id: KeyId) {
    const { budgets, key, levels: path } = yield* levels.standing(caller, id)
    const level = path.at(-1)
    const now = yield* DateTime.now
    return {
      key: yield* shownKey(caller, key, level),
      bounds: level === undefined ? null : levelView(level, limitsOf(budgets, level.id, now))
    }
  })

  const runView = Effect.fnUntraced(function* (run: Level, budgets: ReadonlyArray<BudgetStatus>) {
    const now = yield* DateTime.now
    const [limit] = limitsOf(budgets, run.id, now)
    const made = yield* receipts.list({ role: "consumer", ownerId: run.consumerId }, receiptsOf(run), {
      limit: RECEIPTS_SHOWN_MAX,
      offset: 0,
      after: undefined
    })
    return {
      ...runFields(run, now),
      limit_microcents: limit!.limit_microcents,
      spent_microcents: limit!.spent_microcents,
      held_microcents: limit!.held_microcents,
      remaining_microcents: limit!.remaining_microcents,
      calls: made.total,
      receipts: made.items.map((receipt) => ({
        receipt_id: receipt.receipt_id,
        tool_name: receipt.tool_name,
        status: receipt.status,
        cost_microcents: receipt.cost_microcents,
        timestamp: receipt.timestamp
      })),
      allowed_tools: run.allowedTools ?? null
    }
  })

  return [
    route(endpoints.findKey, ({ as, params }) => boundsView(as("consumer"), params.key_id)),
    route(endpoints.changeKey, function* ({ as, params, payload }) {
      const caller = as("consumer")
      yield* levels.changeKey(caller, params.key_id, {
        label: payload.label,
        bounds: changedBounds(payload),
        limits: payload.limits?.map(toLimit),
        expiresAt: payload.expires_at,
        disabled: payload.disabled
      })
      return yield* boundsView(caller, params.key_id)
    }),
    route(endpoints.keyLimits, function* ({ as, params }) {
      const caller = as("consumer")
      const standing = yield* levels.standing(caller, params.key_id)
      const now = yield* DateTime.now
      const { available, held } = yield* ledger.wallet(caller.ownerId)
      const mayRead = scopesOf(caller.levels)?.includes("read") ?? true
      const own = caller.levels.at(-1)?.id
      const isFrozen = Option.isSome(yield* freezes.find(caller.ownerId))
      const checks = [
        check(ACCOUNT, "balance", available <= 0n ? "exhausted" : "open", {
          detail: `${formatAmount(available)} is available`,
          held_microcents: Microcents.make(held),
          remaining_microcents: Microcents.make(available > 0n ? available : 0n)
        }),
        check(ACCOUNT, "frozen", isFrozen ? "exhausted" : "unset", isFrozen ? { detail: "The account is frozen" } : {}),
        ...spendingChecks(ACCOUNT, standing.account, now),
        ...standing.levels.flatMap((level) => levelChecks(level, standing, now))
      ].map((one) =>
        mayRead || standing.levels.some(({ id, path }) => id === one.level_id && path.includes(own!))
          ? one
          : verdictOf(one)
      )
      return {
        key_id: params.key_id,
        verdict: checks.some(stopsAll) ? ("exhausted" as const) : ("open" as const),
        checks,
        timestamp: format(now)
      }
    }),
    route(endpoints.startRun, function* ({ as, payload }) {
      const { run, secret } = yield* levels.startRun(as("consumer"), {
        label: payload.label ?? "",
        limit: payload.limit_microcents,
        expiresInSeconds: payload.expires_in_seconds ?? RUN_SECONDS_DEFAULT,
        allowedTools: payload.allowed_tools,
        parent: payload.parent_run_id
      })
      return {
        ...runFields(run, yield* DateTime.now),
        limit_microcents: payload.limit_microcents,
        run_key: secret,
        message: "Store run_key now: it is not shown again."
      }
    }),
    route(endpoints.listRuns, function* ({ as, query }) {
      const page = yield* pageRequest("runs", query)
      const found = yield* levels.runs(as("consumer"), page)
      const now = yield* DateTime.now
      return { runs: found.items.map((run) => runFields(run, now)), ...pageFields("runs", page, found) }
    }),
    route(endpoints.findRun, function* ({ as, params }) {
      const { budgets, runs } = yield* levels.run(as("consumer"), params.run_id)
      const [self, ...below] = yield* Effect.forEach(runs, (run) => runView(run, budgets))
      return { ...self!, runs: below }
    }),
    route(endpoints.endRun, function* ({ as, params }) {
      const ended = yield* levels.endRun(as("consumer"), params.run_id)
      return runFields(ended, yield* DateTime.now)
    })
  ] satisfies ReadonlyArray<Route>
})

export const toLimit = (sent: {
  readonly period: BudgetPeriod
  readonly limit_microcents: Microcents
}): SpendingLimit => ({ period: sent.period, limit: sent.limit_microcents })

interface BoundsSent {
  readonly scopes?: Bounds["scopes"]
  readonly rate_limit_rpm?: number | null | undefined
  readonly max_price_microcents?: Microcents | null | undefined
  readonly allowed_tools?: ReadonlyArray<string> | null | undefined
  readonly allowed_providers?: ReadonlyArray<string> | null | undefined
  readonly allowed_categories?: ReadonlyArray<string> | null | undefined
}

/** Fields that were not sent are absent; null lifts the bound. */
export const changedBounds = (sent: BoundsSent): Partial<Bounds> => ({
  ...(sent.scopes === undefined ? {} : { scopes: sent.scopes }),
  ...(sent.rate_limit_rpm === undefined ? {} : { rateLimitRpm: sent.rate_limit_rpm ?? undefined }),
  ...(sent.max_price_microcents === undefined ? {} : { maxPrice: sent.max_price_microcents ?? undefined }),
  ...(sent.allowed_tools === undefined ? {} : { allowedTools: sent.allowed_tools ?? undefined }),
  ...(sent.allowed_providers === undefined ? {} : { allowedProviders: sent.allowed_providers ?? undefined }),
  ...(sent.allowed_categories === undefined ? {} : { allowedCategories: sent.allowed_categories ?? undefined })
})

const receiptsOf = (run: Level) => ({
  levelId: run.id,
  toolId: undefined,
  status: undefined,
  from: undefined,
  to: undefined
})

/** A run shows its own key, which is no key of the account's list. */
const shownKey = (caller: KeyOwner, key: ApiKey | undefined, level: Level | undefined) =>
  Effect.map(DateTime.now, (now) =>
    keyView(
      key ?? {
        id: KeyId.make(level!.id),
        role: "consumer",
        ownerId: level!.consumerId,
        label: level!.label,
        prefix: "atb_r_",
        hash: "",
        createdAt: level!.createdAt,
        expiresAt: level!.expiresAt,
        revokedAt: level!.endedAt,
        levelId: level!.id
      },
      caller,
      now
    )
  )

const timeOf = (instant: DateTime.Utc | undefined): string | null => (instant === undefined ? null : format(instant))

const limitView = (budget: BudgetStatus, now: DateTime.Utc) => {
  const left = budget.cap - budget.spentMicrocents - budget.heldMicrocents
  return {
    budget_id: budget.id,
    period: budget.period,
    limit_microcents: budget.cap,
    spent_microcents: Microcents.make(budget.spentMicrocents),
    held_microcents: Microcents.make(budget.heldMicrocents),
    remaining_microcents: Microcents.make(left > 0n ? left : 0n),
    resets_at: resetsAt(budget.period, now) ?? null
  }
}

const limitsOf = (budgets: ReadonlyArray<BudgetStatus>, id: LevelId, now: DateTime.Utc) =>
  budgets
    .filter(({ levelId }) => levelId === id)
    .toSorted((a, b) => PERIODS.indexOf(a.period) - PERIODS.indexOf(b.period))
    .map((budget) => limitView(budget, now))

const levelView = (level: Level, limits: ReadonlyArray<ReturnType<typeof limitView>>) => ({
  level_id: level.id,
  ...fieldsOf(
    level,
    "kind",
    "label",
    "scopes",
    "rateLimitRpm",
    "allowedTools",
    "allowedProviders",
    "allowedCategories"
  ),
  max_price_microcents: level.maxPrice ?? null,
  ...fieldsOf(level, "expiresAt"),
  disabled: level.disabledAt !== undefined,
  limits
})

const runFields = (run: Level, now: DateTime.Utc) => ({
  run_id: run.id,
  parent_id: run.path.at(-2) ?? null,
  label: run.label,
  status: statusOf(run, now),
  created_at: format(run.createdAt),
  expires_at: format(run.expiresAt!),
  ...fieldsOf(run, "endedAt")
})

const statusOf = ({ endedAt, expiresAt }: Level, now: DateTime.Utc): "running" | "ended" | "expired" => {
  if (endedAt !== undefined) return "ended"
  return DateTime.isLessThanOrEqualTo(expiresAt!, now) ? "expired" : "running"
}

// What would stop a key, and when.

type Place = Pick<Level, "label"> & { readonly kind: "account" | Level["kind"]; readonly id: LevelId | undefined }

const ACCOUNT: Place = { kind: "account", id: undefined, label: "" }

interface CheckFields {
  readonly detail?: string
  readonly tool_id?: string | null
  readonly provider_id?: string | null
  readonly limit_microcents?: Microcents
  readonly spent_microcents?: Microcents
  readonly held_microcents?: Microcents
  readonly remaining_microcents?: Microcents
  readonly resets_at?: string | null
}

const check = (place: Place, limit: string, verdict: "unset" | "open" | "exhausted", fields: CheckFields) => ({
  level: place.kind,
  level_id: place.id ?? null,
  label: place.label,
  limit,
  verdict,
  detail: null,
  tool_id: null,
  provider_id: null,
  limit_microcents: null,
  spent_microcents: null,
  held_microcents: null,
  remaining_microcents: null,
  resets_at: null,
  ...fields
})

/** A budget of one tool or provider leaves the others. */
const stopsAll = ({ provider_id, tool_id, verdict }: ReturnType<typeof check>): boolean =>
  verdict === "exhausted" && tool_id === null && provider_id === null

/** Without the scope `read`, a key sees of others that they stop it, and when that ends. */
const verdictOf = (one: ReturnType<typeof check>): ReturnType<typeof check> =>
  check({ kind: one.level, id: one.level_id ?? undefined, label: "" }, one.limit, one.verdict, {
    resets_at: one.verdict === "exhausted" ? one.resets_at : null
  })

const spendingChecks = (place: Place, budgets: ReadonlyArray<BudgetStatus>, now: DateTime.Utc) =>
  PERIODS.flatMap((period) => {
    const set = budgets.filter((budget) => budget.period === period)
    if (set.length === 0) return [check(place, period, "unset", {})]
    return set.map((budget) => {
      const { budget_id: _, period: __, ...amounts } = limitView(budget, now)
      return check(place, period, amounts.remaining_microcents <= 0n ? "exhausted" : "open", {
        ...amounts,
        detail: `${formatAmount(amounts.remaining_microcents)} of ${formatAmount(budget.cap)} is left`,
        tool_id: budget.toolId ?? null,
        provider_id: budget.providerId ?? null
      })
    })
  })

const levelChecks = (level: Level, { budgets }: LevelStanding, now: DateTime.Utc) => {
  const listed = (limit: string, names: ReadonlyArray<string> | undefined) =>
    names === undefined
      ? check(level, limit, "unset", {})
      : check(level, limit, names.length === 0 ? "exhausted" : "open", { detail: names.join(", ") })
  const { disabledAt, endedAt, expiresAt, maxPrice, rateLimitRpm } = level
  const isOver = endedAt !== undefined || (expiresAt !== undefined && DateTime.isLessThanOrEqualTo(expiresAt, now))
  return [
    check(
      level,
      "disabled",
      disabledAt === undefined ? "unset" : "exhausted",
      disabledAt === undefined ? {} : { detail: `Disabled since ${format(disabledAt)}` }
    ),
    check(level, "expiry", isOver ? "exhausted" : expiresAt === undefined ? "unset" : "open", {
      resets_at: timeOf(endedAt ?? expiresAt),
      ...(endedAt === undefined ? {} : { detail: `Ended at ${format(endedAt)}` })
    }),
    listed("scopes", level.scopes),
    rateLimitRpm === undefined
      ? check(level, "rate_limit_rpm", "unset", {})
      : check(level, "rate_limit_rpm", "open", { detail: `${rateLimitRpm} requests per minute` }),
    maxPrice === undefined
      ? check(level, "max_price", "unset", {})
      : check(level, "max_price", "open", { detail: `${formatAmount(maxPrice)} a call`, limit_microcents: maxPrice }),
    listed("allowed_tools", level.allowedTools),
    listed("allowed_providers", level.allowedProviders),
    listed("allowed_categories", level.allowedCategories),
    ...spendingChecks(
      level,
      budgets.filter(({ levelId }) => levelId === level.id),
      now
    )
  ]
}
