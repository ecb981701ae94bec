/**
 * Health reports a full disk, by its free space or by a database that rejects writes.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { DISK_FREE_BYTES_MIN, diskProbe, makeDiskWatch, overall } from "../../domain/platform/Health.ts"

const MIB = 1_048_576

it.effect("too little free space is a fault that states the free space", () =>
  Effect.gen(function* () {
    let free = DISK_FREE_BYTES_MIN
    const { ask, critical, name } = diskProbe(makeDiskWatch(Effect.sync(() => free)))
    assert.isUndefined(yield* ask)
    free = 3 * MIB
    const broken = yield* Effect.flip(ask)
    assert.match(broken.message, /disk of DATA_DIR is full: 3 MiB are free/u)
    assert.strictEqual(overall([{ name, critical }], [{ name, status: "down" }]), "down")
    free = DISK_FREE_BYTES_MIN
    assert.isUndefined(yield* ask)
  })
)

it.effect("a database that rejected a write is a fault for half a minute", () =>
  Effect.gen(function* () {
    const disk = makeDiskWatch()
    const { ask } = diskProbe(disk)
    assert.isUndefined(yield* ask)
    disk.rejected(0)
    assert.match((yield* Effect.flip(ask)).message, /rejects writes: its disk is full/u)
    yield* TestClock.adjust("31 seconds")
    assert.isUndefined(yield* ask)
  })
)
