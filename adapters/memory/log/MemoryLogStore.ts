/**
 * The log in memory. Units of work run one at a time, so the lock is always free.
 */
import { Effect, Option } from "effect"
import { type Appended, type Log, type LogPlace, LogStore, type NewLog } from "../../../domain/log/LogStore.ts"
import { leafTile, type TilePlace } from "../../../domain/log/Tiles.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { memoryLayer } from "../shared/MemoryStore.ts"
import { change } from "../shared/MemoryRows.ts"
import { put, write } from "../shared/MemoryUnitOfWork.ts"

export const layer = memoryLayer(LogStore, MemoryLedger, (ledger) => {
  const logs = new Map<number, Log>()
  const tiles = new Map<string, Uint8Array>()
  const places = new Map<ReceiptId, LogPlace>()

  const begin = Effect.fnUntraced(function* (log: NewLog) {
    if (logs.has(log.number)) return false
    yield* put(logs, log.number, { ...log, size: 0 })
    return true
  })

  const take = (limit: number) =>
    write(
      () => ledger.unlogged.splice(0, limit),
      (taken) => ledger.unlogged.unshift(...taken)
    ).pipe(
      Effect.map((taken) =>
        taken.map(({ cause, isFreeCall, origin, receipt }) => ({ cause, isFreeCall, origin, receipt }))
      )
    )

  const append = Effect.fnUntraced(function* ({
    checkpoint,
    firstIndex,
    log,
    receipts,
    root,
    size,
    ...batch
  }: Appended) {
    const before = logs.get(log)
    if (before?.size !== firstIndex) return yield* Effect.die(new Error(`Log ${log} does not end at ${firstIndex}`))
    for (const tile of batch.tiles) yield* put(tiles, keyOf(log, tile), tile.hashes)
    for (const [at, receipt] of receipts.entries()) {
      yield* put(places, receipt.receipt_id, { log, index: firstIndex + at })
    }
    yield* change(logs, log, { size, root, checkpoint })
  })

  const found = (log: number, asked: ReadonlyArray<TilePlace>) =>
    asked.flatMap(({ index, level }) => {
      const hashes = tiles.get(keyOf(log, { index, level }))
      return hashes === undefined ? [] : [{ level, index, hashes }]
    })

  const scan = (after: ReceiptId | undefined, limit: number) =>
    [...ledger.closedCalls.keys()]
      .filter((id) => after === undefined || id > after)
      .toSorted()
      .slice(0, limit)
      .map((id) => ({ receipt: ledger.closedCalls.get(id)!.receipt, place: places.get(id) }))

  return {
    logs: Effect.sync(() => [...logs.values()]),
    begin,
    stop: (log, stopped, signedNote) => change(logs, log, { stopped, signedNote }),
    lock: Effect.sync(() => Option.fromUndefinedOr([...logs.values()].at(-1))),
    waiting: Effect.sync(() => ledger.unlogged.length > 0),
    take,
    append,
    tiles: (log, asked) => found(log, asked),
    find: (id) => {
      const place = places.get(id)
      const closed = ledger.closedCalls.get(id)
      if (place === undefined || closed === undefined) return Option.none()
      const [tile] = found(place.log, [leafTile(place.index)])
      return Option.some({ receipt: closed.receipt, index: place.index, log: logs.get(place.log)!, tile: tile! })
    },
    scan: (after, limit) => scan(after, limit)
  }
})

const keyOf = (log: number, { index, level }: TilePlace): string => `${log} ${level} ${index}`
