import { platformFiguresContract } from "../../../testing/contracts/platform/PlatformFiguresContract.ts"
import { submissionStoreContract } from "../../../testing/contracts/platform/SubmissionStoreContract.ts"
import { waitlistStoreContract } from "../../../testing/contracts/platform/WaitlistStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WaitlistStore", waitlistStoreContract)
contractOverEveryStore("SubmissionStore", submissionStoreContract)
contractOverEveryStore("PlatformFigures", platformFiguresContract)
