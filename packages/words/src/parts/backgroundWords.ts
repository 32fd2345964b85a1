import { withoutEffects } from '../../../../src/protocol/callEffects.ts'
import type { PartWords } from './describing.ts'
import { howItEnded } from './howItEnded.ts'
import type { backgroundRecords } from '../../../../src/protocol/parts/background/backgroundRecords.ts'

export const backgroundWords: PartWords<typeof backgroundRecords> = {
  'call.noted': {
    log: ({ id, name, callId }) => ({
      level: 'debug',
      message: `background call ${id} of ${name} has begun something`,
      fields: { id, callId, name },
    }),
  },
  'call.reported': {
    log: ({ id, name, callId, isError, ended }) => ({
      level: 'debug',
      message: `background call ${id} of ${name} ${howItEnded({ isError, ended })}`,
      fields: { id, callId, name, isError },
    }),
    attributes: ({ id, name, callId, isError, ended }) => ({
      'escapement.call.id': callId,
      'escapement.background.id': id,
      'escapement.background.end': howItEnded({ isError, ended }),
      'gen_ai.tool.name': name,
    }),
    // How it ended is seen by all who see the call; what it returned is a message, which has rules of its own.
    visible: ({ data: _, dataApart: __, ...event }) => ({ ...withoutEffects(event), content: [] }),
  },
}
