import type { SessionStatus } from '../../sessions/session.ts'
import type { Colours } from './colours.ts'

const colourOf: { readonly [S in SessionStatus]: 'green' | 'yellow' | 'red' } = {
  completed: 'green',
  running: 'yellow',
  paused: 'yellow',
  aborted: 'red',
  rejected: 'red',
  failed: 'red',
}

/** What paints the word for a status. */
export const paintStatus = (status: SessionStatus, colours: Colours): ((text: string) => string) =>
  colours[colourOf[status]]
