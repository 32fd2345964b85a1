import type { PartLines } from './describing.ts'
import type { remoteRecords } from '../../../../src/protocol/parts/remote/remoteRecords.ts'

export const remoteLines: PartLines<typeof remoteRecords> = {
  'child.noted': {
    group: 'tool',
    line: ({ name, protocol, childId }) => `${name} works elsewhere (${protocol}: ${childId})`,
    terminal: ({ name, protocol }) => [{ text: `  › ${name} has begun (${protocol})`, tone: 'dim' }],
  },
  'child.update': {
    group: 'tool',
    line: ({ name, kind, text }, { short }) => `${name} · ${kind} · ${short(text)}`,
    terminal: ({ kind, text }, { short }) =>
      kind === 'tool' || kind === 'status' ? [{ text: `  › ${short(text)}`, tone: 'dim' }] : [],
  },
}
