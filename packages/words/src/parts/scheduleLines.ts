import type { PartLines } from './describing.ts'
import type { scheduleRecords } from '../../../../src/protocol/parts/schedules/scheduleRecords.ts'
import { timesWords, timeWords } from '../../../../src/protocol/parts/schedules/timesWords.ts'

export const scheduleLines: PartLines<typeof scheduleRecords> = {
  'schedule.set': {
    group: 'run',
    line: ({ id, times, due, by, prompt }, { short }) =>
      `${id}, ${timesWords(times)}, first ${timeWords(due)}${by === 'model' ? ', by the model' : ''}: ${short(prompt)}`,
    terminal: ({ id, times }) => [{ text: `⏲ schedule ${id}: ${timesWords(times)}`, tone: 'dim' }],
  },
  'schedule.fired': {
    group: 'run',
    line: ({ id, due, next, missed, skipped, requestId }, { counted }) =>
      [
        `${id}, due ${timeWords(due)}`,
        ...(skipped === true ? ['skipped as it is too old'] : []),
        ...(requestId === undefined ? [] : ['by a person']),
        ...(missed === 0 ? [] : [`${counted(missed, 'earlier time')} missed`]),
        next === null ? 'for the last time' : `again ${timeWords(next)}`,
      ].join(' · '),
    terminal: ({ id, skipped }) => [
      { text: `⏲ schedule ${id} ${skipped === true ? 'was skipped' : 'fires'}`, tone: 'dim' },
    ],
  },
  'schedule.removed': {
    group: 'run',
    line: ({ id, why, reason }, { short }) =>
      `${id}${why === 'failed' ? ', as its runs failed' : ''}${reason === undefined ? '' : `: ${short(reason)}`}`,
    terminal: ({ id, why, reason }, { short }) => [
      {
        text: `⏲ schedule ${id} was removed${reason === undefined ? '' : `: ${short(reason)}`}`,
        tone: why === 'asked' ? 'dim' : 'warn',
      },
    ],
  },
}
