/**
 * Where the log is kept. Every receipt that is issued waits here, from the transaction that wrote it, until it has its
 * place. Appending is one unit of work under the log's lock: one sequencer at a time on any number of nodes, and a crash
 * leaves all of a batch or nothing of it.
 */
import { Context, type Effect, type Option } from "effect"
import type { CallCause } from "../metering/CallCause.ts"
import type { OpenCall } from "../metering/CallStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import type { ReceiptId } from "../shared/Ids.ts"
import type { Hash } from "./MerkleTree.ts"
import { ED25519, type NoteKey } from "./SignedNote.ts"
import type { Tile, TilePlace } from "./Tiles.ts"

export interface NewLog {
  /** From 1 on, without gaps. */
  readonly number: number
  readonly origin: string
  readonly publicKey: Uint8Array
  /** Never shown: salts are made from it. */
  readonly saltKey: Uint8Array
  readonly root: Hash
  /** The signed note of the tree as it stands. */
  readonly checkpoint: string
  /** Of a log that follows a stopped one: the signed statement that says so. */
  readonly statement?: string | undefined
}

export interface Log extends NewLog {
  readonly size: number
  /** Why it takes no more receipts, and what was signed last: its tree is not the one that was signed. */
  readonly stopped?: string | undefined
  readonly signedNote?: string | undefined
}

/** The key of a log's notes: its name is the log's origin. */
export const noteKeyOf = ({ origin, publicKey }: Pick<Log, "origin" | "publicKey">): NoteKey => ({
  name: origin,
  kind: ED25519,
  publicKey
})

export interface Appended {
  readonly log: number
  /** The first one's place; the others follow. */
  readonly firstIndex: number
  readonly receipts: ReadonlyArray<Receipt>
  readonly tiles: ReadonlyArray<Tile>
  readonly size: number
  readonly root: Hash
  readonly checkpoint: string
}

/** A receipt as it comes by the sequencer, once. */
export interface SequencedReceipt {
  readonly receipt: Receipt
  readonly origin: OpenCall["origin"]
  /** Whether the proxy made the call and the free tier covered it. */
  readonly isFreeCall: boolean
  /** Why it says `error`, where that is no failure of the provider. */
  readonly cause: CallCause | undefined
}

export interface LogPlace {
  readonly log: number
  readonly index: number
}

/** A receipt that has its place, and the log as it stood in the same moment. */
export interface LoggedReceipt {
  readonly receipt: Receipt
  readonly index: number
  readonly log: Log
  /** The one that its leaf is in. */
  readonly tile: Tile
}

export class LogStore extends Context.Service<
  LogStore,
  {
    /** Oldest first: the last one is open, the others are closed for good. */
    readonly logs: Effect.Effect<ReadonlyArray<Log>>
    /** Makes it the open one. False: there is one of that number already. */
    begin(log: NewLog): Effect.Effect<boolean>
    /** The open log, locked for the unit of work around; none while another one holds it. */
    readonly lock: Effect.Effect<Option.Option<Log>>
    /** For good, on every node: its tree is not the one that was signed. */
    stop(log: number, reason: string, signedNote: string): Effect.Effect<void>
    /** Whether any receipt has no place yet: read without a lock, so that an idle log costs nothing. */
    readonly waiting: Effect.Effect<boolean>
    /** Takes receipts that have no place yet, for the unit of work around. */
    take(limit: number): Effect.Effect<ReadonlyArray<SequencedReceipt>>
    append(batch: Appended): Effect.Effect<void>
    /** Those that there are, in no order. */
    tiles(log: number, places: ReadonlyArray<TilePlace>): Effect.Effect<ReadonlyArray<Tile>>
    find(id: ReceiptId): Effect.Effect<Option.Option<LoggedReceipt>>
    /** Every receipt by id, with its place if it has one; for checking the whole. */
    scan(
      after: ReceiptId | undefined,
      limit: number
    ): Effect.Effect<ReadonlyArray<{ readonly receipt: Receipt; readonly place: LogPlace | undefined }>>
  }
>()("agent-tool-billing/domain/log/LogStore") {}
