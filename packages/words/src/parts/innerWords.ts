import type { PartWords } from './describing.ts'
import type { innerRecords } from '../../../../src/protocol/parts/inner/innerRecords.ts'

export const innerWords: PartWords<typeof innerRecords> = {
  'inner.start': {
    log: ({ callId, n, name, childId }) => ({
      level: 'debug',
      message: `tool ${name} was called by a call`,
      fields: { callId, n, name, ...(childId === undefined ? {} : { childId }) },
    }),
    attributes: ({ callId, name, n, childId }) => ({
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.name': name,
      'escapement.inner.n': n,
      ...(childId === undefined ? {} : { 'escapement.child.id': childId }),
    }),
    call: ({ callId, n, name, input }) => ({ callId: `${callId}/${n}`, name, input }),
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
    call: ({ callId, n, name, asked, value, apart, error }) => {
      const text =
        error?.message ?? apart?.preview ?? (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
      return {
        callId: `${callId}/${n}`,
        name,
        ...(asked === undefined ? {} : { input: asked.input }),
        end: {
          content: [{ type: 'text', text }],
          isError: error !== undefined,
          ...(typeof value === 'object' && value !== null ? { data: value } : {}),
        },
      }
    },
  },
}
