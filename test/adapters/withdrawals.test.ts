import { paidFundsContract } from "../../testing/contracts/PaidFundsContract.ts"
import { spendingByLotContract } from "../../testing/contracts/SpendingByLotContract.ts"
import { withdrawalStoreContract } from "../../testing/contracts/WithdrawalStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WithdrawalStore", withdrawalStoreContract)
contractOverEveryStore("PaidFunds", paidFundsContract)
contractOverEveryStore("SpendingByLot", spendingByLotContract)
