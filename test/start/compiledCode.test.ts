/**
 * A service without requests keeps its compiled code: V8 does not shrink the heap then. Its delay is shortened here, and
 * without the service's setting the first collection follows within a second.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAIN, ready } from "../support/servers/ServiceProcess.ts"

const REQUESTS = 500
const SHRINKING = ["--memory-reducer-delay-ms=100", "--gc-memory-reducer-start-delay-ms=100"]
const IDLE = "3 seconds"

const collections = (output: string, kind: RegExp): number => output.match(kind)?.length ?? 0

it.live("A service does not shrink its heap while no requests arrive", () =>
  Effect.gen(function* () {
    const settings = { PROFILE: "memory", RATE_LIMIT_IP_RPM: "0" }
    const service = yield* ready(settings, { command: [process.execPath, "--trace-gc", ...SHRINKING, MAIN, "serve"] })
    const shrunkBefore = collections(service.output(), /\(reduce\)/gu)
    for (let n = 0; n < REQUESTS; n++) {
      const { status } = yield* Effect.promise(async () => {
        const response = await fetch(`${service.url}/api/market/catalog`)
        await response.text()
        return response
      })
      assert.strictEqual(status, 200)
    }
    yield* Effect.sleep(IDLE)
    const output = service.output()
    assert.isAbove(collections(output, /Scavenge/gu), 0)
    assert.strictEqual(collections(output, /\(reduce\)/gu), shrunkBefore)
  })
)
