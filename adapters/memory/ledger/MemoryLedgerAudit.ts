/**
 * Totals of the memory ledger: as stored, and recomputed from every transfer and open call.
 */
import { DateTime } from "effect"
import {
  type AccountTotals,
  type Audit,
  DISCREPANCIES_SHOWN_MAX,
  type Discrepancy
} from "../../../domain/ledger/LedgerStore.ts"
import {
  AccountKind,
  type Balance,
  changesOf,
  lotDayOf,
  type Transfer,
  transferOfCall
} from "../../../domain/ledger/Transfer.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import type { ClosedCallRow, MemoryLedger } from "./MemoryLedger.ts"

type State = MemoryLedger["Service"]

/** The provider's share and the platform's, without amounts of zero. */
export const transfersOfCall = (call: ClosedCallRow | undefined): ReadonlyArray<Transfer> => {
  if (call === undefined) return []
  const { receipt, fee, consumerId } = call
  const common = {
    transferId: transferOfCall(receipt.receipt_id),
    debit: "wallet",
    consumerId,
    providerId: receipt.provider_id,
    reference: undefined,
    effectiveAt: DateTime.makeUnsafe(receipt.timestamp),
    recordedAt: DateTime.makeUnsafe(receipt.created_at)
  } as const
  const net = Microcents.make(receipt.cost_microcents - fee)
  const lot = lotDayOf(common.recordedAt)
  return [
    ...(net > zero ? [{ ...common, leg: 1, kind: "call", credit: "provider", amount: net, lot } as const] : []),
    ...(fee > zero
      ? [{ ...common, leg: 2, kind: "fee", credit: "platform_fee", amount: fee, lot: undefined } as const]
      : [])
  ]
}

const everyTransfer = function* (state: State): Generator<Transfer> {
  for (const transfers of state.transfers.values()) yield* transfers
  for (const call of state.closedCalls.values()) yield* transfersOfCall(call)
}

export const totalsOf = (state: State): ReadonlyArray<AccountTotals> => {
  const rows: Array<Balance & { readonly account: AccountKind }> = [...state.balances.values()]
  for (const wallet of state.wallets.values()) rows.push({ account: "wallet", ...wallet })
  return AccountKind.literals.flatMap((account) => {
    const ofKind = rows.filter((row) => row.account === account)
    const total = (of: (row: Balance) => bigint): bigint => ofKind.reduce((sum, row) => sum + of(row), 0n)
    const credits = total((row) => row.credits)
    const debits = total((row) => row.debits)
    const overdrawn = total((row) => (row.debits > row.credits ? row.debits - row.credits : 0n))
    return credits === 0n && debits === 0n ? [] : [{ account, credits, debits, overdrawn }]
  })
}

interface Place {
  readonly account: AccountKind
  readonly ownerId: string
  readonly lot: string | undefined
}

interface Figures extends Balance, Place {
  readonly held: bigint
}

const nameOf = ({ account, lot, ownerId }: Place): string => `${ownerId} ${account} ${lot ?? ""}`

export const auditOf = (state: State): Audit => {
  const kept = new Map<string, Figures>()
  for (const [ownerId, wallet] of state.wallets) {
    const place: Place = { account: "wallet", ownerId, lot: undefined }
    kept.set(nameOf(place), { ...place, ...wallet })
  }
  for (const row of state.balances.values()) kept.set(nameOf(row), { ...row, held: 0n })

  const recomputed = new Map<string, Figures>()
  const add = (place: Place, more: Balance & { readonly held: bigint }) => {
    const name = nameOf(place)
    const sum = recomputed.get(name)
    recomputed.set(name, {
      ...place,
      credits: (sum?.credits ?? 0n) + more.credits,
      debits: (sum?.debits ?? 0n) + more.debits,
      held: (sum?.held ?? 0n) + more.held
    })
  }
  let transfers = 0
  for (const transfer of everyTransfer(state)) {
    transfers++
    for (const { account, credits, debits, lot, ownerId } of changesOf([transfer]))
      add({ account, ownerId, lot }, { credits, debits, held: 0n })
  }
  for (const { call, held } of state.openCalls.values())
    add({ account: "wallet", ownerId: call.consumerId, lot: undefined }, { credits: 0n, debits: 0n, held })

  const names = [...new Set([...kept.keys(), ...recomputed.keys()])].toSorted()
  const discrepancies = names.flatMap((name) => discrepanciesOf(kept.get(name), recomputed.get(name)))
  return {
    transfers,
    accounts: kept.size,
    openCalls: state.openCalls.size,
    discrepancies: discrepancies.slice(0, DISCREPANCIES_SHOWN_MAX)
  }
}

const discrepanciesOf = (kept: Figures | undefined, recomputed: Figures | undefined): ReadonlyArray<Discrepancy> => {
  const { account, lot, ownerId } = (kept ?? recomputed)!
  return (["credits", "debits", "held"] as const).flatMap((figure) => {
    const pair = { kept: kept?.[figure] ?? 0n, recomputed: recomputed?.[figure] ?? 0n }
    return pair.kept === pair.recomputed ? [] : [{ account, ownerId, lot, figure, ...pair }]
  })
}
