import { check } from '../../../log/fold.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'
import { wrongInPin } from './pins.ts'

export const pinFold: BrakeFolds<'pin.applied'> = {
  'pin.applied': (conversation, record) => {
    check(record, wrongInPin(record, conversation))
    const by = conversation.annotate().pin(record)
    if (record.reason !== undefined && by === 'model') conversation.notify({ kind: 'refusal', text: record.reason })
  },
}
