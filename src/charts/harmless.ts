import { withoutReordering } from '../conversation/withoutReordering.ts'

/**
 * Control characters of a model's or tool's text could move the cursor or worse, and those that turn the order of letters show
 * another command than the one to be approved. Keeps line breaks; lone halves of characters become U+FFFD.
 */
export const harmless = (text: string): string =>
  withoutReordering(text.toWellFormed())
    .replace(/\t/g, '    ')
    // oxlint-disable-next-line no-control-regex -- these are what is to go
    .replace(/\u001B\[[\d;?]*[A-Za-z]|[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')
