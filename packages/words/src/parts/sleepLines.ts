import type { PartLines } from './describing.ts'
import { timeWords } from '../../../../src/protocol/parts/schedules/timesWords.ts'
import type { sleepRecords } from '../../../../src/protocol/parts/sleep/sleepRecords.ts'

export const sleepLines: PartLines<typeof sleepRecords> = {
  'timer.set': {
    group: 'tool',
    line: ({ due }) => `until ${timeWords(due)}`,
    terminal: ({ due }) => [{ text: `⏲ sleeps until ${timeWords(due)}`, tone: 'dim' }],
  },
  'timer.fired': {
    group: 'tool',
    line: ({ due, early }) => (early === undefined ? `at ${timeWords(due)}` : `by a message, before ${timeWords(due)}`),
  },
}
