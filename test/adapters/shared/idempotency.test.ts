import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { IdempotencyStore } from "../../../domain/shared/Idempotency.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { idempotencyStoreContract } from "../../../testing/contracts/shared/IdempotencyStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"
import { postgresPorts } from "../../contracts/ports.ts"
import { instant } from "../../contracts/samples.ts"

contractOverEveryStore("IdempotencyStore", idempotencyStoreContract)

it.layer(postgresPorts, { timeout: "60 seconds", excludeTestServices: true })(
  "IdempotencyStore over PostgreSQL alone",
  (it) => {
    it.effect("gives up after five seconds behind a slow request, with a Retry-After", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const { atomically } = yield* UnitOfWork
        const { sha256Hex } = yield* Digest
        const claim = {
          scope: "slow",
          keyHash: sha256Hex("key"),
          requestHash: sha256Hex("request"),
          at: instant("2026-11-20T10:11:12.345Z")
        }
        const taken = yield* Deferred.make<void>()
        const slow = yield* store
          .claim(claim)
          .pipe(
            Effect.andThen(Deferred.succeed(taken, undefined)),
            Effect.andThen(Effect.never),
            atomically,
            Effect.forkChild
          )
        yield* Deferred.await(taken)
        const startedAt = performance.now()
        const error = yield* Effect.flip(atomically(store.claim(claim)))
        const waitedMs = performance.now() - startedAt
        assert.deepInclude(error, { _tag: "IdempotencyInFlight", retryAfterSeconds: 2 })
        assert.isAtLeast(waitedMs, 4_900)
        assert.isBelow(waitedMs, 20_000)
        yield* Fiber.interrupt(slow)
        assert.strictEqual((yield* atomically(store.claim(claim)))._tag, "Claimed")
      })
    )

    it.effect("limits the wait for the key only, not the request's own work", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const sql = yield* SqlClient.SqlClient
        const { atomically } = yield* UnitOfWork
        const { sha256Hex } = yield* Digest
        const timeout = Effect.map(Effect.orDie(sql`SELECT current_setting('lock_timeout') AS value`), ([row]) => row)
        const before = yield* timeout
        const claim = {
          scope: "bound",
          keyHash: sha256Hex("key"),
          requestHash: sha256Hex("request"),
          at: instant("2026-11-20T10:11:12.345Z")
        }
        assert.deepStrictEqual(yield* atomically(Effect.andThen(store.claim(claim), timeout)), before)
      })
    )
  }
)
