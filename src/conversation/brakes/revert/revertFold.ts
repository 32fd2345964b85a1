import { check, corrupt } from '../../../log/fold.ts'
import { factsBehind } from '../../tree/facts.ts'
import { abandonWork } from '../../tree/receipts.ts'
import type { BrakeFolds, Reshaped } from '../../tree/reshaped.ts'
import type { RecordOf } from '../../../protocol/records.ts'
import { revertState } from '../../parts/state/stateFold.ts'
import { wrongInRevert } from './wrongInRevert.ts'

export const revertFold: BrakeFolds<'revert.applied' | 'undo.step' | 'undo.end'> = {
  'revert.applied': applyRevert,
  'undo.step': (conversation, record) => {
    check(record, conversation.undone.step(record))
    conversation.tree.touch(record.call)
  },
  'undo.end': (conversation, record) =>
    conversation.changed(conversation.undone.end(record, conversation.annotate()).depth),
}

function applyRevert(conversation: Reshaped, record: RecordOf<'revert.applied'>): void {
  if (!record.applied) {
    // A person reads the event; only a model that asked needs the note.
    const by = conversation.annotate().settle('reverts', record.id) ?? 'model'
    if (by === 'model') conversation.notify({ kind: 'refusal', text: record.reason ?? 'revert refused' })
    return
  }
  const { target: targetId, tag, rebased = [] } = record
  const target = targetId === undefined ? undefined : conversation.node(targetId)
  if (target === undefined || tag === undefined || !conversation.onTrunk(target.id))
    throw corrupt(record, 'its target is not on the trunk')
  conversation.checkWhole(record)
  check(record, wrongInRevert(record, target, conversation))
  const annotations = conversation.annotate()
  const changed = annotations.hidden.changedByCut(target.depth, conversation)
  annotations.abandon(conversation.path.slice(target.depth))
  revertState(conversation, record, target)
  conversation.tree.cut(target.depth)
  abandonWork(conversation, tag.evidence)
  for (const { nodeId, from } of rebased) conversation.tree.repeat(from, nodeId)
  annotations.settle('reverts', record.id, true)
  annotations.countRevert(target.id)
  const facts = factsBehind(tag.abandoned, (id) => conversation.node(id))
  const tagged = { nodeId: target.id, tag, facts }
  annotations.tagged.push(tagged)
  conversation.undone.begin(record, tagged)
  Object.assign(target, { tags: [...target.tags, tag] })
  conversation.dropRepair()
  conversation.changed(Math.min(target.depth, changed))
}
