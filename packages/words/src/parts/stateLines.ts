import type { PartLines } from './describing.ts'
import type { StateOp } from '../../../../src/protocol/parts/state/patch.ts'
import type { stateRecords } from '../../../../src/protocol/parts/state/stateRecords.ts'

const signs = { add: '+', replace: '=', remove: '−' } as const

/** Describes one operation on the state: `= /title "x"`. */
export const opText = (op: StateOp): string =>
  `${signs[op.op]} ${op.path === '' ? '/' : op.path}${op.op === 'remove' ? '' : ` ${JSON.stringify(op.value)}`}`

/** Maximum number of lines of one change. */
const mostLines = 20

export const stateLines: PartLines<typeof stateRecords> = {
  'state.patched': {
    group: 'state',
    line: ({ by, patch }, { short }) =>
      `by ${by === 'migration' ? by : `the ${by}`}: ${short(patch.map(opText).join(' · '))}`,
    note: ({ by, patch }, { counted }) => ({
      heading: 'State',
      text: `${counted(patch.length, 'place')} changed by ${by === 'migration' ? 'its migration' : `the ${by}`}`,
      lines: patch.slice(0, mostLines).map((op) => opText(op).slice(0, 200)),
    }),
  },
}
