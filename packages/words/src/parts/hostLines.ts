import type { PartLines } from './describing.ts'
import { timeWords } from '../../../../src/protocol/parts/schedules/timesWords.ts'
import type { hostRecords } from '../../../../src/protocol/parts/hosts/hostRecords.ts'

const failed = (error: { readonly message: string } | undefined): string =>
  error === undefined ? '' : `: ${error.message}`

export const hostLines: PartLines<typeof hostRecords> = {
  'host.created': {
    group: 'state',
    line: ({ machine, version }) => (version === undefined ? machine : `${machine}, version ${version}`),
  },
  'host.event': {
    group: 'state',
    line: ({ event, from, to }) =>
      `${event.type}${from === undefined ? '' : ` from ${from}`}${to === undefined ? '' : ` to ${to}`}`,
  },
  'host.step': {
    group: 'state',
    line: ({ upto, set = [], cleared = [] }) =>
      [
        `up to record ${upto}`,
        ...set.map(({ event, due }) => `${event.type} at ${timeWords(due)}`),
        ...cleared.map((id) => `without ${id}`),
      ].join(', '),
  },
  'host.effect.start': { group: 'tool', line: ({ actor, effects }) => `${actor} (${effects})` },
  'host.effect.end': { group: 'tool', line: ({ actor, error }) => `${actor}${failed(error)}` },
  'host.snapshot': { group: 'state', line: ({ upto }) => `up to record ${upto}` },
  'host.done': { group: 'run', line: ({ error }) => (error === undefined ? 'done' : `failed${failed(error)}`) },
}
