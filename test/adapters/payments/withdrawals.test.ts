import { paidFundsContract } from "../../../testing/contracts/ledger/PaidFundsContract.ts"
import { spendingByLotContract } from "../../../testing/contracts/ledger/SpendingByLotContract.ts"
import { withdrawalStoreContract } from "../../../testing/contracts/payments/WithdrawalStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WithdrawalStore", withdrawalStoreContract)
contractOverEveryStore("PaidFunds", paidFundsContract)
contractOverEveryStore("SpendingByLot", spendingByLotContract)
