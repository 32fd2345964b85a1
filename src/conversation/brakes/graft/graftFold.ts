import { check } from '../../../log/fold.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'
import { copyState } from '../../parts/state/stateFold.ts'
import { copiesOf, wrongInGraft } from './grafts.ts'

export const graftFold: BrakeFolds<'graft.applied'> = {
  'graft.applied': (conversation, record) => {
    conversation.checkWhole(record)
    check(record, wrongInGraft(record, conversation))
    const by = conversation.annotate().settle('grafts', record.id)
    if (record.reason !== undefined && by === 'model') conversation.notify({ kind: 'refusal', text: record.reason })
    if (!record.applied) return
    copyState(conversation, record)
    conversation.tree.add(copiesOf(record.copies, record, conversation))
  },
}
