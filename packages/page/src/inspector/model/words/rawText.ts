import { signal } from '@preact/signals'

/** True while messages are shown as they were written, and not as Markdown: on the whole page, until it is closed. */
export const isRaw = signal(false)
