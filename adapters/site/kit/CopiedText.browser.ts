/**
 * Copies the text of an element. Without clipboard access it selects the text instead.
 */
const FEEDBACK_MS = 1_500

/** Shows on the label of a button what was done, then the label again. */
export const copyText = async (source: HTMLElement, label: string, show: (label: string) => void): Promise<void> => {
  try {
    await navigator.clipboard.writeText(source.textContent)
    show("Copied")
  } catch {
    getSelection()?.selectAllChildren(source)
    show("Selected")
  }
  setTimeout(() => show(label), FEEDBACK_MS)
}
