import { layOverlay, wrongInOverlay } from '../../request/overlay.ts'
import { check, corrupt } from '../../../log/fold.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'

export const compactionFold: BrakeFolds<'compaction.end'> = {
  'compaction.end': (conversation, record) => {
    const { overlay, requestId } = record
    if (record.applied && overlay !== undefined) {
      conversation.checkWhole(record)
      if (overlay.nodeId !== conversation.lastNodeId + 1) throw corrupt(record, 'its id is not the next')
      check(record, wrongInOverlay(overlay, conversation))
      conversation.overlays.add(layOverlay(overlay, conversation))
      conversation.tree.lastNodeId = overlay.nodeId
      conversation.changed(conversation.node(overlay.from)!.depth)
    }
    if (requestId !== undefined) conversation.annotations?.settle('compactions', requestId)
  },
}
