/**
 * Every migration by number and name. Pending ones run in one transaction; concurrent starters wait for each other.
 */
import { type Effect } from "effect"
import { Migrator, type SqlClient, type SqlError } from "effect/sql"
import accountsAndCatalogue from "./0001_accounts_and_catalogue.ts"
import ledger from "./0002_ledger.ts"
import grants from "./0003_grants.ts"
import payments from "./0004_payments.ts"
import invoices from "./0005_invoices.ts"
import reports from "./0006_reports.ts"
import singleCalls from "./0007_single_calls.ts"
import receiptLog from "./0008_receipt_log.ts"
import disputes from "./0009_disputes.ts"
import trust from "./0010_trust.ts"
import platform from "./0011_platform.ts"
import healthHistory from "./0012_health_history.ts"
import slaDays from "./0013_sla_days.ts"
import retention from "./0014_retention.ts"
import withdrawnTools from "./0015_withdrawn_tools.ts"
import disputeDecisions from "./0016_dispute_decisions.ts"
import unfitOutputs from "./0017_unfit_outputs.ts"
import settlingInOneGo from "./0018_settling_in_one_go.ts"
import lots from "./0019_lots.ts"
import refunds from "./0020_refunds.ts"
import figures from "./0021_figures.ts"
import canceledCalls from "./0022_canceled_calls.ts"
import priceNotice from "./0023_price_notice.ts"
import defaultCaps from "./0024_default_caps.ts"
import processor from "./0025_processor.ts"
import withdrawals from "./0026_withdrawals.ts"
import canceledCallTerms from "./0027_canceled_call_terms.ts"
import providerHandles from "./0028_provider_handles.ts"
import toolNamePins from "./0029_tool_name_pins.ts"
import monthParts from "./0030_month_parts.ts"
import logStops from "./0031_log_stops.ts"
import edge from "./0032_edge.ts"
import marketFigures from "./0033_market_figures.ts"

const migrations = {
  "0001_accounts_and_catalogue": accountsAndCatalogue,
  "0002_ledger": ledger,
  "0003_grants": grants,
  "0004_payments": payments,
  "0005_invoices": invoices,
  "0006_reports": reports,
  "0007_single_calls": singleCalls,
  "0008_receipt_log": receiptLog,
  "0009_disputes": disputes,
  "0010_trust": trust,
  "0011_platform": platform,
  "0012_health_history": healthHistory,
  "0013_sla_days": slaDays,
  "0014_retention": retention,
  "0015_withdrawn_tools": withdrawnTools,
  "0016_dispute_decisions": disputeDecisions,
  "0017_unfit_outputs": unfitOutputs,
  "0018_settling_in_one_go": settlingInOneGo,
  "0019_lots": lots,
  "0020_refunds": refunds,
  "0021_figures": figures,
  "0022_canceled_calls": canceledCalls,
  "0023_price_notice": priceNotice,
  "0024_default_caps": defaultCaps,
  "0025_processor": processor,
  "0026_withdrawals": withdrawals,
  "0027_canceled_call_terms": canceledCallTerms,
  "0028_provider_handles": providerHandles,
  "0029_tool_name_pins": toolNamePins,
  "0030_month_parts": monthParts,
  "0031_log_stops": logStops,
  "0032_edge": edge,
  "0033_market_figures": marketFigures
}

export const names: ReadonlyArray<string> = Object.keys(migrations).toSorted()

export const latestVersion: number = Number.parseInt(names.at(-1)!, 10)

/** Brings the schema up to date; says what was applied now. Again: nothing. */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Migrator.make({})({ loader: Migrator.fromRecord(migrations) })
