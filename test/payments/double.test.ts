/**
 * `npm run stripe-double` as docs/payments.md describes it: the service starts against it, a load is paid on the
 * double's page, and the webhook credits it. The double explains why a webhook cannot be delivered.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { json, post, ready, start } from "../support/servers/ServiceProcess.ts"

const DOUBLE = join(import.meta.dirname, "../support/stripe/main.ts")

const aDouble = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>> = {}) {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const double = yield* start([DOUBLE], {
    command: [process.execPath],
    settings: { STRIPE_DOUBLE_PORT: String(port), ...settings }
  })
  yield* says(double, `A double of Stripe at ${url}.`)
  return { ...double, port, url }
})

const says = ({ output, problem }: { output: () => string; problem: () => string }, line: string) =>
  until(
    line,
    Effect.sync(() => `${output()}${problem()}`.includes(line))
  )

const aService = (stripeUrl: string, settings: Readonly<Record<string, string>> = {}) =>
  ready({
    PROFILE: "memory",
    PAYMENTS: "stripe",
    STRIPE_API_BASE: stripeUrl,
    STRIPE_SECRET_KEY: "sk_test_double",
    STRIPE_WEBHOOK_SECRET: "whsec_double",
    ...settings
  })

const anOrder = Effect.fnUntraced(function* (url: string) {
  const { body } = yield* post(`${url}/api/market/register-consumer`, { name: "me", email: "me@example.org" })
  const key = String(body["api_key"])
  const loaded = yield* post(`${url}/api/market/balance/load`, { amount_cents: 500 }, key)
  assert.strictEqual(loaded.status, 200, JSON.stringify(loaded.body))
  const balance = Effect.map(
    json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } }),
    (answer) => answer.body["balance_cents"]
  )
  return { checkoutUrl: String(loaded.body["checkout_url"]), balance }
})

const pay = (checkoutUrl: string) =>
  Effect.promise(async () => {
    const body = new URLSearchParams({ do: "pay" })
    const { status } = await fetch(checkoutUrl, { method: "POST", body, redirect: "manual" })
    assert.strictEqual(status, 303)
  })

it.live(
  "delivers to the service that was started against it, and the load is credited",
  () =>
    Effect.gen(function* () {
      const double = yield* aDouble()
      const service = yield* aService(double.url)
      const { balance, checkoutUrl } = yield* anOrder(service.url)
      assert.strictEqual(yield* balance, 0)
      assert.isTrue(checkoutUrl.startsWith(`${double.url}/pay/`), checkoutUrl)
      yield* pay(checkoutUrl)
      yield* until(
        "the load is credited",
        Effect.map(balance, (cents) => cents === 500)
      )
      yield* says(double, `Delivered checkout.session.completed to ${service.url}/api/webhooks/stripe.`)
    }),
  240_000
)

it.live(
  "delivers to each of two services what was paid there",
  () =>
    Effect.gen(function* () {
      const double = yield* aDouble()
      const [first, second] = [yield* aService(double.url), yield* aService(double.url)]
      const orders = [yield* anOrder(first.url), yield* anOrder(second.url)]
      for (const { balance, checkoutUrl } of orders) {
        yield* pay(checkoutUrl)
        yield* until(
          "the load is credited",
          Effect.map(balance, (cents) => cents === 500)
        )
      }
    }),
  240_000
)

it.live(
  "reports an address that does not answer, an unexpected response, and a wrong secret",
  () =>
    Effect.gen(function* () {
      const double = yield* aDouble()
      const gone = yield* aService(double.url)
      const toNothing = yield* anOrder(gone.url)
      gone.child.kill("SIGKILL")
      yield* gone.exit
      yield* pay(toNothing.checkoutUrl)
      yield* says(double, `to ${gone.url}/api/webhooks/stripe: nothing answers there. Set WEBHOOK_URL`)

      const deaf = yield* aService(double.url, { STRIPE_WEBHOOK_SECRET: "whsec_another" })
      yield* pay((yield* anOrder(deaf.url)).checkoutUrl)
      yield* says(double, `to ${deaf.url}/api/webhooks/stripe: it answered 400. Start the service with the`)

      const other = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((_, response) => void response.writeHead(404).end())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const WEBHOOK_URL = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
      const astray = yield* aDouble({ WEBHOOK_URL })
      const service = yield* aService(astray.url)
      yield* pay((yield* anOrder(service.url)).checkoutUrl)
      yield* says(astray, `to ${WEBHOOK_URL}: it answered 404. Set WEBHOOK_URL`)
      yield* says(double, "Gave up on checkout.session.completed after 6 attempts.")
    }),
  240_000
)

it.live(
  "says in one sentence that its port is in use",
  () =>
    Effect.gen(function* () {
      const { port } = yield* aDouble()
      const second = yield* start([DOUBLE], {
        command: [process.execPath],
        settings: { STRIPE_DOUBLE_PORT: String(port) }
      })
      assert.strictEqual(yield* second.exit, 1)
      assert.match(
        second.problem(),
        /^The double cannot start: .*EADDRINUSE.*STRIPE_DOUBLE_PORT sets another port\.$/mu
      )
      assert.notInclude(second.problem(), " at ")
    }),
  240_000
)
