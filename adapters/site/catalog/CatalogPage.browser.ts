/**
 * The interactive part of the catalog: a signed-in developer chooses tools for the toolbox.
 */
import { showToolboxButtons } from "../kit/ToolboxButtons.browser.ts"

void showToolboxButtons()
