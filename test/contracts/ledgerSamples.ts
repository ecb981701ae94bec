/**
 * Sample consumers, balances, calls and receipts: those of the testing kit.
 */
export {
  aCall,
  aLevelId,
  aReceiptId,
  aToolId,
  closingOf,
  type Ending,
  opened,
  settled,
  tagsOf
} from "../../testing/contracts/shared/CallSamples.ts"
export {
  aConsumerId,
  aProviderId,
  atOnce,
  consumerWith,
  LOT,
  money,
  OPENED_AT,
  payoutLeg,
  platformWith
} from "../../testing/contracts/shared/LedgerSamples.ts"
