/**
 * What the watch knows of a host, and the choice of the primary. After a promotion the new primary has a higher timeline
 * than the old one, which may still accept writes: only the highest timeline that this process has seen counts.
 */
import type { DatabaseHost } from "./DatabaseUrl.ts"

export type HostState =
  | { readonly _tag: "Unavailable"; readonly problem: string }
  | {
      readonly _tag: "Available"
      readonly isWritable: boolean
      /** 0 where the server does not tell. */
      readonly timeline: number
      /** PostgreSQL's system identifier. Servers that replicate each other have the same. */
      readonly cluster: string | undefined
    }

export type HostStates = ReadonlyMap<DatabaseHost, HostState>

export interface Known {
  readonly current: DatabaseHost | undefined
  /** The highest of a primary so far. */
  readonly timeline: number
  readonly cluster: string | undefined
}

/** Undefined: none of them is a writable primary now. */
export const primaryAmong = (
  states: HostStates,
  { cluster, current, timeline }: Known
): { readonly host: DatabaseHost; readonly timeline: number; readonly cluster: string | undefined } | undefined => {
  const writable = [...states].flatMap(([host, state]) =>
    state._tag === "Available" &&
    state.isWritable &&
    state.timeline >= timeline &&
    (cluster === undefined || state.cluster === undefined || state.cluster === cluster)
      ? [{ host, timeline: state.timeline, cluster: state.cluster }]
      : []
  )
  const highest = Math.max(...writable.map((one) => one.timeline))
  const best = writable.filter((one) => one.timeline === highest)
  return best.find(({ host }) => host === current) ?? best[0]
}

/** Hosts with different data, which must not stand in for each other. */
export const differentClusters = (states: HostStates): ReadonlyArray<string> => {
  const byCluster = new Map<string, string>()
  for (const [host, state] of states) {
    if (state._tag === "Available" && state.cluster !== undefined && !byCluster.has(state.cluster)) {
      byCluster.set(state.cluster, host.name)
    }
  }
  return byCluster.size > 1 ? [...byCluster.values()] : []
}

export const describeHosts = (states: HostStates): string =>
  [...states].map(([{ name }, state]) => `${name} ${inWords(state)}`).join("; ")

const inWords = (state: HostState): string => {
  if (state._tag === "Unavailable") return `is not available (${state.problem})`
  return state.isWritable ? `accepts writes on timeline ${state.timeline}` : "is a standby, or read-only"
}
