import type { PartWords } from './describing.ts'
import type { stateRecords } from '../../../../src/protocol/parts/state/stateRecords.ts'

export const stateWords: PartWords<typeof stateRecords> = {
  'state.patched': {
    log: ({ by, patch, callId }, { counted }) => ({
      level: 'debug',
      message: `state changed by ${by === 'migration' ? 'its migration' : `the ${by}`}: ${counted(patch.length, 'place')}`,
      fields: { by, ops: patch.length, ...(callId === undefined ? {} : { callId }) },
    }),
    attributes: ({ by, patch }, hasContent) => ({
      'escapement.state.by': by,
      'escapement.state.ops': patch.length,
      ...(hasContent ? { 'escapement.state.patch': JSON.stringify(patch) } : {}),
    }),
  },
}
