import { textOf } from '../../../../src/protocol/text/messageText.ts'
import type { PartLines } from './describing.ts'
import type { backgroundRecords } from '../../../../src/protocol/parts/background/backgroundRecords.ts'
import { howItEnded } from './howItEnded.ts'

export const backgroundLines: PartLines<typeof backgroundRecords> = {
  'call.noted': {
    group: 'tool',
    line: ({ id, name, left }, { short }) => `${id} (${name}) has begun ${short(JSON.stringify(left) ?? '')}`,
  },
  'call.reported': {
    group: 'tool',
    line: ({ id, name, content, ...how }, { short }) =>
      `${id} (${name}) ${howItEnded(how)} · ${short(textOf(content))}`,
    terminal: ({ id, name, isError, ended }) => [
      { text: `⇢ ${id} (${name}) ${howItEnded({ isError, ended })}`, tone: isError ? 'warn' : 'dim' },
    ],
  },
}
