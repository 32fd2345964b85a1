import type { PartLines } from './describing.ts'
import { timeWords } from '../../../../src/protocol/parts/schedules/timesWords.ts'
import type { innerRecords } from '../../../../src/protocol/parts/inner/innerRecords.ts'

const json = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Returns the recorded wake time of a call by which a script sleeps. */
const untilIn = (name: string, input: unknown): number | undefined => {
  if (name !== '$sleep' || typeof input !== 'object' || input === null || !('until' in input)) return undefined
  return typeof input.until === 'number' ? input.until : undefined
}

export const innerLines: PartLines<typeof innerRecords> = {
  'inner.start': {
    group: 'tool',
    line: ({ n, name, input, childId }, { short }) => {
      const until = untilIn(name, input)
      if (until !== undefined) return `↳ ${n} sleeps until ${timeWords(until)}`
      return `↳ ${n} ${name}${childId === undefined ? '' : ` (${childId})`} ${short(json(input))}`
    },
    terminal: ({ name, childId }) =>
      childId === undefined ? [] : [{ text: `  › ${name}: ${childId} begins`, tone: 'dim' }],
  },
  'inner.end': {
    group: 'tool',
    line: ({ n, name, value, apart, error, changed = [] }, { short }) =>
      [
        error === undefined
          ? `↳ ${n} ${name} → ${short(apart?.preview ?? json(value))}`
          : `↳ ${n} ${name} failed: ${short(error.message)}`,
        ...(changed.length === 0 ? [] : [`changed ${changed.join(', ')}`]),
      ].join(' · '),
    terminal: ({ name, error, changed = [] }, { short }) => [
      error === undefined
        ? { text: `  › ${[name, ...changed].join(' ')} ✓`, tone: 'dim' }
        : { text: `  › ${name} ✗ ${short(error.message)}`, tone: 'warn' },
    ],
  },
}
