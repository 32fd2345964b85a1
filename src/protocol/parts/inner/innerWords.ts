import type { PartWords } from '../describing.ts'
import type { innerRecords } from './innerRecords.ts'

export const innerWords: PartWords<typeof innerRecords> = {
  'inner.start': {
    log: ({ callId, n, name }) => ({
      level: 'debug',
      message: `tool ${name} was called by a call`,
      fields: { callId, n, name },
    }),
    attributes: ({ callId, name, n }) => ({
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.name': name,
      'escapement.inner.n': n,
    }),
  },
  'inner.end': {
    log: ({ callId, n, name, error }) => ({
      level: error === undefined ? 'debug' : 'info',
      message: `tool ${name}, called by a call, ${error === undefined ? 'ended' : 'failed'}`,
      fields: { callId, n, name, ...(error?.code === undefined ? {} : { code: error.code }) },
    }),
    attributes: ({ callId, name, n, error }, hasContent) => ({
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.name': name,
      'escapement.inner.n': n,
      'escapement.inner.failed': error !== undefined,
      ...(hasContent ? { 'escapement.inner.error': error?.message } : {}),
    }),
  },
}
