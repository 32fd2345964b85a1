import { signal } from '@preact/signals'

/** Whether messages are shown as they were written, and not as Markdown: for all of the page, as long as it is open. */
export const isRaw = signal(false)
