/**
 * A handler that fails with an error without a row, or of a status that its endpoint does not declare, does not compile.
 */
// @effect-diagnostics missingEffectError:off
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Endpoint from "../../../adapters/http/contract/Endpoint.ts"
import { publicRead, readBy, uncached, writeBy } from "../../../adapters/http/contract/Endpoint.ts"
import { NotFound, RateLimited, WrongRole } from "../../../adapters/http/pipeline/Failures.ts"
import { duplicate, type ProblemsOf } from "../../../adapters/http/pipeline/Problems.ts"
import { routesWith } from "../../../adapters/http/pipeline/Route.ts"
import { DebtOutstanding, type Withdrawals } from "../../../domain/payments/Withdrawals.ts"

const success = Schema.Struct({})
const notFound = new NotFound({ what: "It" })
const rejected = new WrongRole({ role: "consumer", needed: [] })
const limited = new RateLimited({ limit: 1, retryAfterSeconds: 1, resetAfterSeconds: 1 })

const { route } = routesWith({ DebtOutstanding: duplicate<DebtOutstanding>() })

const open = Endpoint.get("open", "/open", { access: publicRead, summary: "A public read", success })
const named = Endpoint.get("named", "/open/:id", {
  access: uncached,
  summary: "A public read by ID",
  params: { id: Schema.String },
  success
})
const keyed = Endpoint.get("keyed", "/keyed", { access: readBy("consumer"), summary: "A read with a key", success })
const write = Endpoint.post("write", "/write", { access: writeBy("consumer"), summary: "A write", success })
const owed = Endpoint.post("owed", "/owed", {
  access: writeBy("consumer"),
  summary: "A write that names a code",
  success,
  problems: ["DUPLICATE"]
})
const declared = Endpoint.get("declared", "/declared", {
  access: publicRead,
  summary: "A read that declares 404",
  success,
  problems: [404]
})

it("handlers fail with the errors that their endpoint declares", () => {
  const routes = [
    route(open, () => Effect.fail(limited)),
    route(named, () => Effect.fail(notFound)),
    route(declared, () => Effect.fail(notFound)),
    route(keyed, () => Effect.fail(rejected)),
    route(declared, function* () {
      return yield* notFound
    }),
    route(owed, () => Effect.fail(new DebtOutstanding({ owedCents: 1 }))),
    // @ts-expect-error It declares 409, and not this code of it.
    route(write, () => Effect.fail(new DebtOutstanding({ owedCents: 1 }))),
    // @ts-expect-error 404 is not declared.
    route(open, () => Effect.fail(notFound)),
    // @ts-expect-error Neither in a generator.
    route(open, function* () {
      return yield* notFound
    }),
    // @ts-expect-error A public endpoint declares no 403.
    route(open, () => Effect.fail(rejected)),
    // @ts-expect-error A read declares no 409.
    route(keyed, () => Effect.fail(new DebtOutstanding({ owedCents: 1 })))
  ]
  assert.lengthOf(routes, 11)
})

it("handlers fail with the errors that have a row in their room's table", () => {
  const { route: routeWithoutRow } = routesWith({})
  const routes = [
    // @ts-expect-error The table has no row for it.
    routeWithoutRow(write, () => Effect.fail(new DebtOutstanding({ owedCents: 1 })))
  ]
  const whole = { DebtOutstanding: duplicate(), NotWithdrawable: duplicate() } satisfies ProblemsOf<Withdrawals>
  // @ts-expect-error An error of the service has no row.
  const without = { DebtOutstanding: duplicate() } satisfies ProblemsOf<Withdrawals>
  // @ts-expect-error The service has no such error.
  const beyond = { ...whole, Renamed: duplicate() } satisfies ProblemsOf<Withdrawals>
  assert.lengthOf([...routes, without, beyond], 3)
})
