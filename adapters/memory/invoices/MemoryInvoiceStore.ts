/**
 * Invoices in memory, computed from the single calls.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type DraftInvoice,
  type Invoice,
  type InvoiceLine,
  type InvoiceOwner,
  InvoiceStore,
  type Month,
  type MonthSpan,
  type Movement,
  numberIn,
  type OwnerMonth,
  seriesOf
} from "../../../domain/invoices/Invoice.ts"
import { ConsumerId, type InvoiceId, ProviderId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"
import { memoryStore } from "../shared/MemoryStore.ts"
import { pageById } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put, write } from "../shared/MemoryUnitOfWork.ts"

interface Part {
  readonly seen: ReadonlySet<unknown>
  readonly documents: ReadonlySet<InvoiceId>
}

export const layer = Layer.effect(
  InvoiceStore,
  Effect.gen(function* () {
    const ledger = yield* MemoryLedger
    const tables = yield* MemoryTables
    const invoices = new Map<InvoiceId, Invoice>()
    const counters = new Map<string, number>()
    const completed = new Map<Month, DateTime.Utc>()
    /** The part of each reopened month that its earlier documents cover. */
    const covered = new Map<Month, Part>()

    const allCallsIn = ({ end, start }: MonthSpan): ReadonlyArray<ClosedCallRow> =>
      [...ledger.closedCalls.values()].filter(
        ({ consumerId, receipt }) =>
          tables.consumers.has(consumerId) && receipt.created_at >= format(start) && receipt.created_at < format(end)
      )

    const callsIn = (span: MonthSpan): ReadonlyArray<ClosedCallRow> =>
      allCallsIn(span).filter((call) => covered.get(span.month)?.seen.has(call) !== true)

    const ownerOf = (role: InvoiceOwner["role"], id: string): InvoiceOwner => {
      const account =
        role === "consumer" ? tables.consumers.get(ConsumerId.make(id)) : tables.providers.get(ProviderId.make(id))
      return { role, id, name: account?.name ?? "", email: account?.email ?? "" }
    }

    const lineOf = (calls: ReadonlyArray<ClosedCallRow>): InvoiceLine => {
      const { receipt, priceVersion } = calls[0]!
      const costs = calls.map((call) => ({ ...call, cost: call.receipt.cost_microcents }))
      const free = costs.filter(({ cost, receipt: { status } }) => cost === 0n && status === "success").length
      const billed = costs.filter(({ cost }) => cost > 0n).length
      const row = tables.tools.get(receipt.tool_id)
      return {
        toolId: receipt.tool_id,
        toolName: calls.map((call) => call.receipt.tool_name).toSorted()[0]!,
        provider: tables.providers.get(receipt.provider_id)?.name ?? "",
        priceVersion,
        unitPrice: row?.history.find(({ version }) => version === priceVersion)?.price ?? 0n,
        calls: calls.length,
        billedCalls: billed,
        freeCalls: free,
        failedCalls: calls.length - billed - free,
        amount: costs.reduce((sum, { cost }) => sum + cost, 0n),
        fee: calls.reduce((sum, { fee }) => sum + fee, 0n)
      }
    }

    const movementsOf = (role: InvoiceOwner["role"], ownerId: string, { end, month, start }: MonthSpan) => {
      const account = role === "consumer" ? "wallet" : "provider"
      const totals = new Map<Movement["kind"], bigint>()
      for (const transfer of [...ledger.transfers.values()].flat()) {
        if (covered.get(month)?.seen.has(transfer) === true) continue
        const owner = role === "consumer" ? transfer.consumerId : transfer.providerId
        const isOut = transfer.debit === account || (role === "provider" && transfer.debit === "provider_frozen")
        const touches = (isOut || transfer.credit === account) && transfer.kind !== "freeze"
        if (owner !== ownerId || !touches || !DateTime.between(transfer.recordedAt, { minimum: start, maximum: end })) {
          continue
        }
        if (DateTime.Equivalence(transfer.recordedAt, end)) continue
        const kind = transfer.kind as Movement["kind"]
        totals.set(kind, (totals.get(kind) ?? 0n) + (transfer.credit === account ? transfer.amount : -transfer.amount))
      }
      return [...totals].filter(([, amount]) => amount !== 0n).map(([kind, amount]): Movement => ({ kind, amount }))
    }

    const monthOf = (role: InvoiceOwner["role"], id: string, span: MonthSpan): OwnerMonth => {
      const calls = callsIn(span).filter((call) =>
        role === "consumer" ? call.consumerId === id : call.receipt.provider_id === id
      )
      const byPrice = Map.groupBy(calls, ({ priceVersion, receipt }) => `${receipt.tool_id} ${priceVersion}`)
      const lines = [...byPrice.values()].map(lineOf)
      return {
        owner: ownerOf(role, id),
        lines: lines.toSorted(
          (a, b) => compare(a.toolName, b.toolName) || compare(a.toolId, b.toolId) || a.priceVersion - b.priceVersion
        ),
        movements: movementsOf(role, id, span),
        isSupplement: covered.has(span.month)
      }
    }

    const hasLines = (month: Month, { id, role }: InvoiceOwner): boolean =>
      [...invoices.values()].some(
        (one) =>
          one.month === month &&
          one.owner.id === id &&
          one.owner.role === role &&
          one.corrects === undefined &&
          covered.get(month)?.documents.has(one.id) !== true
      )

    const pending = (span: MonthSpan, limit: number): ReadonlyArray<OwnerMonth> => {
      const calls = callsIn(span)
      const consumers = new Set<string>(calls.map((call) => call.consumerId))
      const providers = new Set<string>(calls.map((call) => call.receipt.provider_id))
      for (const id of tables.consumers.keys()) if (hasRefund("consumer", id, span)) consumers.add(id)
      for (const id of tables.providers.keys()) if (hasRefund("provider", id, span)) providers.add(id)
      return [
        ...[...consumers].toSorted().map((id) => ownerOf("consumer", id)),
        ...[...providers].toSorted().map((id) => ownerOf("provider", id))
      ]
        .filter((owner) => !hasLines(span.month, owner))
        .slice(0, limit)
        .map((owner) => monthOf(owner.role, owner.id, span))
    }

    const hasRefund = (role: InvoiceOwner["role"], id: string, span: MonthSpan): boolean =>
      movementsOf(role, id, span).some(({ kind }) => kind === "refund")

    const next = Effect.fnUntraced(function* (series: string) {
      const count = (counters.get(series) ?? 0) + 1
      yield* put(counters, series, count)
      return numberIn(series, count)
    })

    const finalise = Effect.fnUntraced(function* (
      month: Month,
      drafts: ReadonlyArray<DraftInvoice>,
      issuedAt: DateTime.Utc
    ) {
      const documented = new Set(drafts.filter((draft) => hasLines(month, draft.owner)).map((draft) => draft.owner.id))
      const made: Array<Invoice> = []
      for (const draft of drafts) {
        if (draft.corrects === undefined && documented.has(draft.owner.id)) continue
        made.push({ ...draft, number: yield* next(seriesOf(draft)), issuedAt: format(issuedAt) })
      }
      yield* write(
        () => made.forEach((invoice) => invoices.set(invoice.id, invoice)),
        () => made.forEach((invoice) => invoices.delete(invoice.id))
      )
      return made
    })

    /** The calls and transfers of each completed month that existed at that time. */
    const invoicedOf = new Map<Month, ReadonlySet<unknown>>()

    const complete = Effect.fnUntraced(function* (month: Month, at: DateTime.Utc) {
      const seen = new Set<unknown>([...ledger.closedCalls.values(), ...[...ledger.transfers.values()].flat()])
      yield* put(invoicedOf, month, seen)
      yield* put(completed, month, at)
    })

    const reopen = Effect.fnUntraced(function* (span: MonthSpan) {
      const { month } = span
      const seen = invoicedOf.get(month)
      const at = completed.get(month)
      if (seen === undefined || at === undefined) return false
      const documents = new Set([...invoices.values()].filter((one) => one.month === month).map(({ id }) => id))
      const before = covered.get(month)
      yield* put(covered, month, { seen, documents })
      if (pending(span, 1).length > 0) {
        yield* write(
          () => completed.delete(month),
          () => completed.set(month, at)
        )
        return true
      }
      if (before === undefined) covered.delete(month)
      else covered.set(month, before)
      return false
    })

    const totalOf = (month: Month, kind: Invoice["kind"]): bigint =>
      [...invoices.values()].reduce(
        (sum, one) => (one.month === month && one.kind === kind ? sum + one.total : sum),
        0n
      )

    return memoryStore(InvoiceStore, {
      openCallsBefore: (instant) =>
        [...ledger.openCalls.values()].filter(({ call }) => DateTime.isLessThan(call.openedAt, instant)).length,
      stage: () => undefined,
      pending: (span, limit) => pending(span, limit),
      finalise,
      isComplete: (month) => completed.has(month),
      reopen,
      complete,
      totals: (span) => ({
        documents: [...invoices.values()].filter(({ month }) => month === span.month).length,
        ledger: allCallsIn(span).reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n),
        invoices: totalOf(span.month, "invoice"),
        statements: totalOf(span.month, "statement")
      }),
      find: (id) => Option.fromNullishOr(invoices.get(id)),
      lockCredited: (id) =>
        [...invoices.values()].reduce((sum, one) => (one.corrects === id ? sum + one.total : sum), 0n),
      list: (owner, page) =>
        pageById(
          [...invoices.values()].filter((invoice) => invoice.owner.id === owner),
          page
        )
    })
  })
)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
