import type { PartWords } from './describing.ts'
import type { remoteRecords } from '../../../../src/protocol/parts/remote/remoteRecords.ts'

export const remoteWords: PartWords<typeof remoteRecords> = {
  'child.noted': {
    log: ({ callId, name, childId, protocol }) => ({
      level: 'info',
      message: `agent ${name} works elsewhere`,
      fields: { callId, name, childId, protocol },
    }),
    attributes: ({ callId, name, childId, protocol }) => ({
      'escapement.call.id': callId,
      'gen_ai.agent.name': name,
      'escapement.child.id': childId,
      'escapement.child.protocol': protocol,
    }),
    visible: ({ handle: _, ...event }) => ({ ...event, handle: null }),
  },
  'child.update': {
    log: ({ callId, name, childId, kind, text }) => ({
      level: 'debug',
      message: `agent ${name} elsewhere goes on`,
      fields: { callId, name, childId, kind, chars: text.length },
    }),
    visible: ({ text: _, ...event }) => ({ ...event, text: '' }),
  },
}
