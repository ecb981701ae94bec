/**
 * Port to the log. Every receipt is queued here, in the transaction that writes it, until it is sequenced. Appending is
 * one unit of work under the log's lock: one sequencer at a time on any number of nodes, and a crash leaves a whole
 * batch or nothing.
 */
import { Context, type Effect, type Option } from "effect"
import type { OpenCall } from "../metering/CallStore.ts"
import type { CallCause, Receipt } from "../receipts/Receipts.ts"
import type { ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { Hash } from "./MerkleTree.ts"
import { ED25519, type NoteKey } from "./SignedNote.ts"
import type { Tile, TilePlace } from "./Tiles.ts"

/** Signs checkpoints with Ed25519. A new key starts a new log. */
export class LogSigner extends Context.Service<
  LogSigner,
  {
    /** 32 bytes. */
    readonly publicKey: Uint8Array
    /** 64 bytes. The same text always has the same signature. */
    sign(message: Uint8Array): Uint8Array
    verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean
  }
>()("agent-tool-billing/domain/log/LogSigner") {}

/** An empty log. A new one starts with each new key, and after a log that was stopped. */
export interface NewLog {
  /** Numbers begin at 1, without gaps. */
  readonly number: number
  readonly origin: string
  readonly publicKey: Uint8Array
  /** Secret: salts are derived from it. */
  readonly saltKey: Uint8Array
  readonly root: Hash
  /** The signed note of the current tree. */
  readonly checkpoint: string
  /** The signed statement about a stopped log, in the one that follows it. */
  readonly statement?: string | undefined
}

/** A transparency log and its newest signed tree. */
export interface Log extends NewLog {
  readonly size: number
  /** The reason why it takes no more receipts, and what was signed last: its tree differs from the signed one. */
  readonly stopped?: string | undefined
  readonly signedNote?: string | undefined
}

/** The key of a log's notes: its name is the log's origin. */
export const noteKeyOf = ({ origin, publicKey }: Pick<Log, "origin" | "publicKey">): NoteKey => ({
  name: origin,
  kind: ED25519,
  publicKey
})

/** One batch of receipts, with the tiles that it changed and the new signed tree. It is stored as a whole. */
export interface Appended {
  readonly log: number
  /** Index of the first one; the others follow. */
  readonly firstIndex: number
  readonly receipts: ReadonlyArray<Receipt>
  readonly tiles: ReadonlyArray<Tile>
  readonly size: number
  readonly root: Hash
  readonly checkpoint: string
}

/** A receipt as the sequencer processes it, once. */
export interface SequencedReceipt {
  readonly receipt: Receipt
  readonly origin: OpenCall["origin"]
  /** Proxied, and covered by the free tier. */
  readonly isFreeCall: boolean
  /** The reason why the status is `error` without a failure of the provider. */
  readonly cause: CallCause | undefined
}

/** The place of a receipt: the number of its log, and its index in it. */
export interface LogPlace {
  readonly log: number
  readonly index: number
}

/** A sequenced receipt, with the log at the same moment. */
export interface LoggedReceipt {
  readonly receipt: Receipt
  readonly index: number
  readonly log: Log
  /** The one that contains its leaf. */
  readonly tile: Tile
}

export class LogStore extends Context.Service<
  LogStore,
  {
    /** Oldest first: the last one is open, the others are closed permanently. */
    readonly logs: Effect.Effect<ReadonlyArray<Log>, StoreUnavailable>
    /** Makes it the open log. False if its number exists. */
    begin(log: NewLog): Effect.Effect<boolean, StoreUnavailable>
    /** The open log, locked for the unit of work; none while another unit of work holds it. */
    readonly lock: Effect.Effect<Option.Option<Log>, StoreUnavailable>
    /** Stops it permanently, on every node: its tree differs from the signed one. */
    stop(log: number, reason: string, signedNote: string): Effect.Effect<void, StoreUnavailable>
    /** Tells whether any receipt is queued: read without a lock, so that an idle log costs nothing. */
    readonly waiting: Effect.Effect<boolean, StoreUnavailable>
    /**
     * Takes queued receipts, for the unit of work: at least `limit` if there are as many. Receipts that were queued
     * together are taken together.
     */
    take(limit: number): Effect.Effect<ReadonlyArray<SequencedReceipt>, StoreUnavailable>
    append(batch: Appended): Effect.Effect<void, StoreUnavailable>
    /** The existing ones, in any order. */
    tiles(log: number, places: ReadonlyArray<TilePlace>): Effect.Effect<ReadonlyArray<Tile>, StoreUnavailable>
    find(id: ReceiptId): Effect.Effect<Option.Option<LoggedReceipt>, StoreUnavailable>
    /** Every receipt by id, with its place if it has one; for checks of the whole log. */
    scan(
      after: ReceiptId | undefined,
      limit: number
    ): Effect.Effect<
      ReadonlyArray<{ readonly receipt: Receipt; readonly place: LogPlace | undefined }>,
      StoreUnavailable
    >
  }
>()("agent-tool-billing/domain/log/LogStore") {}
