/**
 * A read replica that answers reads of reports and of the catalog instead of the primary, while it is fresh enough.
 */
import { Context } from "effect"

export type ReadServer = "replica" | "primary"

/**
 * Says whether a read replica may answer instead of the primary. It may be behind by at most a limit, and nothing is
 * read from it on which money, keys or access depend. Default: there is none.
 */
export interface ReadReplica {
  readonly lagMsMax: number
  /** The replica in use has everything that the primary had at this monotonic time. Undefined: none can be used. */
  found(replica: { readonly name: string; readonly asOfMs: number } | undefined): void
  /** The replica in use; undefined if there is none. */
  name(): string | undefined
  /** Returns how far the replica is behind at most. The lag grows while the replica reports nothing. */
  lagMs(): number
  isFresh(): boolean
  /** Counts a read that the replica may answer, by the server that did. */
  count(by: ReadServer): void
  reads(by: ReadServer): number
}

/** Undefined without a replica: the primary answers everything. */
export const ReadReplica = Context.Reference<ReadReplica | undefined>(
  "agent-tool-billing/domain/platform/ReadReplica",
  { defaultValue: () => undefined }
)

/** `nowMs`: monotonic. */
export const makeReadReplica = (lagMsMax: number, nowMs: () => number): ReadReplica => {
  const reads: Record<ReadServer, number> = { replica: 0, primary: 0 }
  let asOfMs = nowMs()
  let name: string | undefined
  const lagMs = () => Math.max(0, nowMs() - asOfMs)
  return {
    lagMsMax,
    found: (replica) => {
      name = replica?.name
      if (replica !== undefined) asOfMs = replica.asOfMs
    },
    name: () => name,
    lagMs,
    isFresh: () => name !== undefined && lagMs() <= lagMsMax,
    count: (by) => {
      reads[by]++
    },
    reads: (by) => reads[by]
  }
}
