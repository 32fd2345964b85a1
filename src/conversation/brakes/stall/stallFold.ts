import { check } from '../../../log/fold.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'
import { wrongInStall } from './stallLog.ts'

export const stallFold: BrakeFolds<'stall.detected'> = {
  'stall.detected': (conversation, record) => {
    check(record, wrongInStall(record, conversation))
    conversation.annotate().stalls.add(record)
    if (record.note !== undefined) conversation.notify({ kind: 'stall', text: record.note })
  },
}
