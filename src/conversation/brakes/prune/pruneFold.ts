import { check } from '../../../log/fold.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'
import { wrongInPrune } from '../hiddenSteps.ts'

export const pruneFold: BrakeFolds<'prune.applied'> = {
  'prune.applied': (conversation, record) => {
    check(record, wrongInPrune(record, conversation.annotations, conversation))
    const by = conversation.annotate().settle('prunes', record.id, record.applied) ?? 'model'
    if (record.reason !== undefined && by === 'model') conversation.notify({ kind: 'refusal', text: record.reason })
    if (record.applied) conversation.changed(conversation.annotate().hide(record, conversation))
  },
}
