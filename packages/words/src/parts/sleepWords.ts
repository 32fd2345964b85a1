import type { PartWords } from './describing.ts'
import type { sleepRecords } from '../../../../src/protocol/parts/sleep/sleepRecords.ts'

export const sleepWords: PartWords<typeof sleepRecords> = {
  'timer.set': {
    log: ({ due }) => ({ level: 'info', message: 'a call sleeps', fields: { until: new Date(due).toISOString() } }),
    attributes: ({ due }) => ({ 'escapement.timer.due': due }),
  },
  'timer.fired': {
    log: ({ due, early }) => ({
      level: 'info',
      message: early === undefined ? 'a call wakes up' : 'a call wakes up early',
      fields: { due: new Date(due).toISOString() },
    }),
    attributes: ({ due, early }) => ({ 'escapement.timer.due': due, 'escapement.timer.early': early }),
  },
}
