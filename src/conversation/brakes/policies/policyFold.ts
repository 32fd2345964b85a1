import type { BrakeFolds } from '../../tree/reshaped.ts'

export const policyFold: BrakeFolds<'policy.start' | 'policy.end'> = {
  'policy.start': (conversation, record) => conversation.annotate().policies.start(record),
  'policy.end': (conversation, { requestId, note }) => {
    if (requestId !== undefined) conversation.annotations?.settle('policyRequests', requestId)
    if (note !== undefined) conversation.notify({ kind: 'policy', text: note })
  },
}
